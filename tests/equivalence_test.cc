// What must not change the result of training: how samples are packed, over how many micro-batches,
// on which device (to rounding); and that the same step twice gives the same bytes.
#include <gtest/gtest.h>

#include <cmath>

#include "base/philox.h"
#include "data/packer.h"
#include "small_model.h"
#include "train/training_step.h"

namespace cloze::tests {
namespace {

constexpr int64_t kSteps = 4;

std::vector<data::Sample> random_samples(uint64_t seed, int count) {
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
  std::vector<double> losses;
  std::vector<float> start;
  std::vector<float> parameters;  // all of them, one after the other
};

std::vector<float> all_parameters(engine::Session& session) {
  std::vector<float> result;
  for (const graph::Value value : session.graph().variables(graph::VariableRole::kParameter)) {
    const auto values = session.read<float>(session.graph().info(value).name);
    result.insert(result.end(), values.begin(), values.end());
  }
  return result;
}

struct RunOptions {
  data::MicroBatchCapacity capacity;
  std::string device = "cpu";
  DType dtype = DType::kF32;
  std::string optimizer = "adamw";
  bool recompute = false;
};

Trained train(const RunOptions& options) {
  train::TrainingStep step({.model = small_model(),
                            .capacity = options.capacity,
                            .optimizer = {.name = options.optimizer,
                                          .epsilon = 1e-3,
                                          .weight_decay_rate = 0.01,
                                          .max_gradient_norm = 0},
                            .compute_dtype = options.dtype,
                            .recompute = options.recompute,
                            .seed = 11,
                            .compile = {.device = options.device, .num_threads = 2}});
  step.session().initialize_parameters(5);
  Trained result{.start = all_parameters(step.session())};
  for (int64_t i = 0; i < kSteps; ++i) {
    const auto batch = data::pack(random_samples(100 + i, 8), options.capacity);
    result.losses.push_back(step.run(batch, i, 0.01).loss());
  }
  result.parameters = all_parameters(step.session());
  return result;
}

double norm_of_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(a[i]) - b[i], 2);
  return std::sqrt(sum);
}

// The gap between two runs, divided by how far the weights moved: a run that learns nothing fails.
double relative_gap(const Trained& a, const Trained& b) {
  const double movement = norm_of_difference(a.start, a.parameters);
  EXPECT_GT(movement, 0.1);
  return norm_of_difference(a.parameters, b.parameters) / movement;
}

// Sums in another order differ by rounding; each step adds to the gap.
double rounding_bound(DType dtype) { return 100.0 * kSteps * unit_roundoff(dtype); }

const data::MicroBatchCapacity kOneMicroBatch{.tokens = 256, .sequences = 8, .predictions = 64};
const data::MicroBatchCapacity kPacked{.tokens = 64, .sequences = 6, .predictions = 20};
const data::MicroBatchCapacity kOnePerRow{.tokens = 30, .sequences = 1, .predictions = 8};

class Equivalence : public testing::TestWithParam<std::string> {};

TEST_P(Equivalence, PackingChangesNothing) {
  const Trained whole = train({.capacity = kOneMicroBatch, .optimizer = GetParam()});
  for (const auto& capacity : {kPacked, kOnePerRow}) {
    const Trained other = train({.capacity = capacity, .optimizer = GetParam()});
    EXPECT_LE(relative_gap(whole, other), rounding_bound(DType::kF32));
    for (int64_t i = 0; i < kSteps; ++i) EXPECT_NEAR(whole.losses[i], other.losses[i], 2e-5);
  }
}

TEST_P(Equivalence, CpuFollowsReference) {
  const Trained cpu = train({.capacity = kPacked, .optimizer = GetParam()});
  const Trained reference =
      train({.capacity = kPacked, .device = "reference", .optimizer = GetParam()});
  EXPECT_LE(relative_gap(reference, cpu), rounding_bound(DType::kF32));
}

TEST_P(Equivalence, BFloat16FollowsF32) {
  const Trained f32 = train({.capacity = kPacked, .optimizer = GetParam()});
  const Trained bf16 = train({.capacity = kPacked, .dtype = DType::kBF16, .optimizer = GetParam()});
  EXPECT_LE(relative_gap(f32, bf16), 0.1);
  for (int64_t i = 0; i < kSteps; ++i) {
    EXPECT_NEAR(f32.losses[i], bf16.losses[i], f32.losses[i] * unit_roundoff(DType::kBF16));
  }
}

TEST_P(Equivalence, TheSameRunTwiceGivesTheSameBytes) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    const RunOptions options{.capacity = kPacked, .dtype = dtype, .optimizer = GetParam()};
    EXPECT_EQ(train(options).parameters, train(options).parameters);
  }
}

TEST_P(Equivalence, RecomputationChangesNoByte) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    RunOptions options{.capacity = kPacked, .dtype = dtype, .optimizer = GetParam()};
    const Trained kept = train(options);
    options.recompute = true;
    EXPECT_EQ(train(options).parameters, kept.parameters);
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, Equivalence, testing::ValuesIn(optim::optimizer_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace cloze::tests
