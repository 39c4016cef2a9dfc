// What tests compare that train one small model in two ways: the weights, and how far they lie
// apart beside how far training moved them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/philox.h"
#include "data/packer.h"
#include "engine/session.h"
#include "small_model.h"
#include "train/training_step.h"

namespace cloze::tests {

inline std::vector<data::Sample> random_samples(uint64_t seed, int count) {
  PhiloxStream random(seed, 0);
  std::vector<data::Sample> samples;
  for (int i = 0; i < count; ++i) {
    data::Sample sample{.next_sentence_label = static_cast<int32_t>(random.below(2))};
    const int32_t length = 6 + static_cast<int32_t>(random.below(24));
    for (int32_t t = 0; t < length; ++t) {
      sample.input_ids.push_back(static_cast<int32_t>(random.below(97)));
      sample.token_type_ids.push_back(t > length / 2 ? 1 : 0);
      if (t % 5 == 2) {
        sample.masked_positions.push_back(t);
        sample.masked_labels.push_back(static_cast<int32_t>(random.below(97)));
      }
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

struct Trained {
  std::vector<double> losses, norms;
  std::vector<float> start;
  std::vector<float> parameters;  // all of them, one after the other
};

inline std::vector<float> all_parameters(engine::Session& session) {
  std::vector<float> result;
  for (const graph::Value value : session.graph().variables(graph::VariableRole::kParameter)) {
    const auto values = session.read<float>(session.graph().info(value).name);
    result.insert(result.end(), values.begin(), values.end());
  }
  return result;
}

inline double norm_of_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(a[i]) - b[i], 2);
  return std::sqrt(sum);
}

// The gap between two runs, divided by how far the weights moved: a run that learns nothing fails.
inline double relative_gap(const Trained& a, const Trained& b) {
  const double movement = norm_of_difference(a.start, a.parameters);
  EXPECT_GT(movement, 0.1);
  return norm_of_difference(a.parameters, b.parameters) / movement;
}

// Of runs that several ranks share. A sanitizer sees in ten steps what it sees in fifty, which take
// it a minute for all layouts.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif
inline constexpr int64_t kStepsOfRanks = kIsSanitized ? 10 : 50;

inline constexpr int kSamplesOfStep = 8;
inline constexpr double kLossScaleOfF16 = 0x1p12;

inline optim::OptimizerOptions optimizer_options(const std::string& name) {
  return {.name = name,
          .epsilon = 1e-3,
          .weight_decay_rate = name == "adam" ? 0.0 : 0.01,
          .momentum = 0.9,
          .max_gradient_norm = 0};
}

// LAMB as PopART has it: every tensor adapts; query, key and value as one. LayerNorm's scale decays,
// too.
inline void adapt_as_popart(train::TrainingStepOptions& options) {
  options.optimizer.adapts_vectors = true;
  options.optimizer.joins_qkv = true;
  options.optimizer.decays_layer_norm_scale = true;
}

// Without second moments a step is as small as the gradients.
inline double learning_rate(const std::string& optimizer) {
  return optimizer == "sgd" || optimizer == "momentum" ? 0.1 : 0.01;
}

// Of ranks that train by LAMB, each with one thread.
inline train::TrainingStepOptions rank_options(const models::BertConfig& model,
                                               const data::MicroBatchCapacity& capacity,
                                               DType dtype, comm::Communicator& ranks) {
  return {.model = model,
          .capacity = capacity,
          .optimizer = optimizer_options("lamb"),
          .compute_dtype = dtype,
          .seed = 11,
          .compile = {.device = tested_device(), .target = {.threads = 1}},
          .ranks = &ranks};
}

// Trains for some steps, from weights and samples that are always the same.
inline Trained train_steps(train::TrainingStep& step, const data::MicroBatchCapacity& capacity,
                           int64_t num_steps, double learning_rate) {
  step.session().initialize_parameters(5);
  Trained result{.start = all_parameters(step.session())};
  for (int64_t i = 0; i < num_steps; ++i) {
    const auto batch = data::pack(random_samples(100 + i, kSamplesOfStep), capacity);
    result.losses.push_back(step.run(batch, i, learning_rate).loss());
  }
  result.parameters = all_parameters(step.session());
  return result;
}

// Of relative_gap() when sums are made in another order: each step adds to it.
inline double reordering_bound(int64_t num_steps) {
  return 100.0 * static_cast<double>(num_steps) * unit_roundoff(DType::kF32);
}

// What the order of its sums makes of a step's loss: over micro-batches, of at least one sample,
// here or in the kernel.
inline double loss_reordering_bound(double loss) {
  return 2.0 * kSamplesOfStep * unit_roundoff(DType::kF32) * loss;
}

// The most results of a dtype that are made one from another in a step.
inline int64_t longest_chain(const graph::Graph& graph, DType dtype) {
  std::vector<int64_t> length(static_cast<size_t>(graph.num_values()));
  for (const graph::Node& node : graph.nodes()) {
    int64_t longest = 0;
    for (const graph::Value input : node.inputs) longest = std::max(longest, length[input.index]);
    for (const graph::Value output : node.outputs) {
      length[output.index] = longest + (graph.type(output).dtype == dtype ? 1 : 0);
    }
  }
  return std::ranges::max(length);
}

// Of relative_gap() when results are rounded to a narrower dtype: roundings are independent, so
// that n one after another add up like sqrt(n); and every step is off by so much of its own length,
// which may be twice its part of the way, as steps do not all go in one direction.
inline double rounding_gap(const graph::Graph& graph, DType dtype) {
  return 2.0 * std::sqrt(static_cast<double>(longest_chain(graph, dtype))) * unit_roundoff(dtype);
}

}  // namespace cloze::tests
