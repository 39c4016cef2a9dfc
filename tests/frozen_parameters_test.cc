// Frozen parameters keep their bytes, the others take the steps that they take without, and the
// program is shorter and smaller.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "ops/attention.h"
#include "small_model.h"
#include "trained_weights.h"

namespace cloze::tests {
namespace {

const data::MicroBatchCapacity kCapacity{.tokens = 40, .sequences = 3, .predictions = 12};
const optim::DepthRules kEmbeddings{.freezes_embeddings = true};
const optim::DepthRules kOneLayer{.frozen_layers = 1};
const optim::DepthRules kAllLayers{.frozen_layers = 2};

using Weights = std::map<std::string, std::vector<float>>;

Weights weights_of(engine::Session& session) {
  Weights weights;
  for (const graph::Value value : session.graph().variables(graph::VariableRole::kParameter)) {
    const std::string& name = session.graph().info(value).name;
    weights[name] = session.read<float>(name);
  }
  return weights;
}

class FrozenParameters : public testing::TestWithParam<DType> {
 protected:
  static train::TrainingStepOptions options_with(const optim::DepthRules& depth) {
    train::TrainingStepOptions options{
        .model = small_model(),
        .head = {.kind = models::HeadKind::kSequenceClassification, .labels = {"no", "yes"}},
        .capacity = kCapacity,
        .optimizer = optimizer_options("adamw"),
        .compute_dtype = GetParam(),
        .seed = 11,
        .compile = {.device = tested_device(), .target = {.threads = 1}}};
    options.optimizer.depth = depth;
    return options;
  }
  static data::StepBatch batch_of(int64_t step) {
    std::vector<data::Sample> samples = random_samples(100 + step, kSamplesOfStep);
    for (data::Sample& sample : samples) {
      sample.class_label = sample.next_sentence_label;
      sample.masked_positions = sample.masked_labels = {};
    }
    return data::pack(samples, kCapacity);
  }
  struct Result {
    Weights start, end;
    int64_t bytes = 0;
    size_t launches = 0;
  };
  static Result train(const optim::DepthRules& depth, int64_t steps) {
    train::TrainingStep step(options_with(depth));
    if (GetParam() == DType::kF16) step.set_loss_scale(kLossScaleOfF16);
    step.session().initialize_parameters(5);
    Result result{.start = weights_of(step.session()),
                  .bytes = step.session().program().total_bytes(),
                  .launches = step.session().graph().nodes().size()};
    for (int64_t i = 0; i < steps; ++i) step.run(batch_of(i), i, learning_rate("adamw"));
    result.end = weights_of(step.session());
    return result;
  }
};

TEST_P(FrozenParameters, KeepTheirBytesWhileTheOthersTrain) {
  for (const optim::DepthRules& depth : {kEmbeddings, kOneLayer, kAllLayers}) {
    const Result trained = train(depth, 5);
    for (const auto& [name, values] : trained.start) {
      EXPECT_EQ(values == trained.end.at(name), depth.freezes(name)) << name;
    }
  }
}

// Without clipping the first update of a parameter does not depend on the others.
TEST_P(FrozenParameters, LeaveTheFirstStepOfTheOthersAsItWas) {
  const Result whole = train({}, 1);
  for (const optim::DepthRules& depth : {kEmbeddings, kOneLayer, kAllLayers}) {
    const Result trained = train(depth, 1);
    for (const auto& [name, values] : trained.end) {
      if (!depth.freezes(name)) {
        EXPECT_EQ(values, whole.end.at(name)) << name;
      }
    }
  }
}

TEST_P(FrozenParameters, MakeTheProgramShorterAndSmaller) {
  Result before = train({}, 0);
  for (const optim::DepthRules& depth : {kEmbeddings, kOneLayer, kAllLayers}) {
    const Result after = train(depth, 0);
    EXPECT_LT(after.launches, before.launches);
    EXPECT_LT(after.bytes, before.bytes);
    const graph::Graph graph = train::training_graph(options_with(depth)).graph;
    const auto gradients =
        std::ranges::count(graph.nodes(), &ops::kAttentionGradient, &graph::Node::op);
    EXPECT_EQ(gradients, small_model().num_hidden_layers - depth.frozen_layers);
    before = after;
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, FrozenParameters,
                         testing::Values(DType::kF32, DType::kBF16, DType::kF16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace cloze::tests
