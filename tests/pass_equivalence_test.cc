// Every pass over a program, proven by the program without it: both train to the same weights, or
// infer the same logits. The results are equal byte for byte where the pass keeps the order of all
// sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/devices.h"
#include "feed/micro_batch_inputs.h"
#include "models/bert_heads.h"
#include "passes/freeze.h"
#include "small_model.h"
#include "trained_weights.h"

namespace cloze::tests {
namespace {

constexpr int64_t kSteps = 20;
const data::MicroBatchCapacity kCapacity{.tokens = 64, .sequences = 6, .predictions = 20};

// Gradients of several micro-batches are added up element by element instead of sum by sum.
const std::set<std::string_view> kReorders = {"accumulate_in_place"};
constexpr std::string_view kOfBf16 = "round_weights";

train::TrainingStepOptions options_of(DType dtype, const std::string& optimizer) {
  return {.model = small_model(),
          .capacity = kCapacity,
          .optimizer = optimizer_options(optimizer),
          .compute_dtype = dtype,
          .seed = 11,
          .compile = {.device = tested_device(), .target = {.threads = 2}}};
}

std::vector<backend::GraphPass> passes_of(train::TrainingStepOptions options) {
  options.recompute = true;
  return train::training_passes(options);
}

std::vector<backend::GraphPass> without(std::vector<backend::GraphPass> passes,
                                        std::string_view name) {
  std::erase_if(passes, [&](const backend::GraphPass& pass) { return pass.name == name; });
  return passes;
}

Trained train_with(const train::TrainingStepOptions& options,
                   const std::vector<backend::GraphPass>& passes, int64_t steps = kSteps) {
  train::TrainingStep step(train::training_graph(options, passes), options);
  if (options.compute_dtype == DType::kF16) step.set_loss_scale(kLossScaleOfF16);
  return train_steps(step, kCapacity, steps, learning_rate(options.optimizer.name));
}

class TrainingPasses : public testing::TestWithParam<std::string> {};

TEST_P(TrainingPasses, EachLeavesTheWeightsAsTheyWere) {
  const train::TrainingStepOptions options = options_of(DType::kF32, GetParam());
  const std::vector<backend::GraphPass> all = passes_of(options);
  const Trained with = train_with(options, all);
  const std::string text = train::training_graph(options, all).graph.to_string();
  for (const backend::GraphPass& pass : without(all, kOfBf16)) {
    SCOPED_TRACE(pass.name);
    const std::vector<backend::GraphPass> others = without(all, pass.name);
    EXPECT_NE(train::training_graph(options, others).graph.to_string(), text);
    const Trained fewer = train_with(options, others);
    if (kReorders.contains(pass.name)) {
      EXPECT_LE(relative_gap(fewer, with), reordering_bound(kSteps));
    } else {
      EXPECT_EQ(fewer.parameters, with.parameters);
    }
    for (int64_t i = 0; i < kSteps; ++i) {
      EXPECT_NEAR(fewer.losses[i], with.losses[i], loss_reordering_bound(with.losses[i]));
    }
  }
}

// Products of GPUs read the same rounded weights, whether they round them or not.
TEST(WeightsOfGpus, RoundedOnceAStepTrainToTheSameBytes) {
  train::TrainingStepOptions options = options_of(DType::kBF16, "adamw");
  options.compile.device = "emulated";
  const std::vector<backend::GraphPass> all = passes_of(options);
  const std::vector<backend::GraphPass> others = without(all, kOfBf16);
  ASSERT_EQ(others.size() + 1, all.size());
  const Trained rounded = train_with(options, all, /*steps=*/3);
  const Trained plain = train_with(options, others, /*steps=*/3);
  EXPECT_EQ(rounded.parameters, plain.parameters);
  EXPECT_EQ(rounded.losses, plain.losses);
}

// In half precision a fused pair rounds once where two operators round twice.
TEST_P(TrainingPasses, AllTogetherInHalves) {
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    const train::TrainingStepOptions options = options_of(dtype, GetParam());
    const Trained with = train_with(options, passes_of(options));
    const Trained without = train_with(options, {});
    EXPECT_LE(relative_gap(without, with),
              rounding_gap(train::training_graph(options, {}).graph, dtype));
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, TrainingPasses, testing::ValuesIn(optim::optimizer_names()),
                         [](const auto& info) { return info.param; });

// A model that infers, whose parameters are those of a trained one or packed from them.
class InferencePasses : public testing::Test {
 protected:
  using Rewrites = std::vector<backend::GraphPass>;

  static graph::Graph graph_with(const Rewrites& rewrites) {
    graph::Graph graph;
    models::bert_for_inference(graph, small_model(), {},
                               {.tokens = kCapacity.tokens,
                                .sequences = kCapacity.sequences,
                                .predictions = kCapacity.predictions});
    for (const backend::GraphPass& rewrite : rewrites) rewrite.run(graph);
    return graph;
  }

  static engine::Session session_of(graph::Graph graph) {
    return engine::Session(std::move(graph), {.target = {.threads = 2}});
  }

  static std::vector<float> logits_of(engine::Session& session) {
    const auto batch = data::pack(random_samples(1, 6), kCapacity);
    feed::write_micro_batch(session, batch.micro_batches.front());
    session.run(graph::kMicroStep);
    std::vector<float> logits = session.read<float>("prediction_logits");
    for (const float logit : session.read<float>("seq_relationship_logits")) {
      logits.push_back(logit);
    }
    return logits;
  }

  static std::vector<float> logits_with(const Rewrites& rewrites) {
    engine::Session session = session_of(graph_with(rewrites));
    session.initialize_parameters(5);
    session.refresh();
    return logits_of(session);
  }

  const Rewrites all_ = engine::device_named("cpu").backend().inference_passes(DType::kF32);
  const std::vector<float> plain_ = logits_with({});
};

// Sums as long as those of this model are made in one order, packed or not.
TEST_F(InferencePasses, ChangeNoByte) {
  EXPECT_EQ(logits_with(all_), plain_);
  for (const backend::GraphPass& pass : all_) {
    EXPECT_EQ(logits_with({pass}), plain_) << pass.name;
    EXPECT_NE(graph_with({pass}).to_string(), graph_with({}).to_string()) << pass.name;
  }
}

TEST_F(InferencePasses, FreezingChangesNoByte) {
  engine::Session made = session_of(graph_with(all_));
  made.initialize_parameters(5);
  made.refresh();
  engine::Session frozen = session_of(passes::frozen(graph_with(all_)));
  for (const graph::Value value : frozen.graph().variables(graph::VariableRole::kParameter)) {
    const std::string& name = frozen.graph().info(value).name;
    frozen.write<float>(name, made.read<float>(name));
  }
  EXPECT_EQ(logits_of(frozen), plain_);
}

}  // namespace
}  // namespace cloze::tests
