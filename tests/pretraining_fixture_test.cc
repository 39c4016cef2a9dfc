// The model against transformers' BertForPreTraining: logits, every gradient, ten AdamW losses.
#include "pretraining_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/packer.h"
#include "inference/micro_batch_inputs.h"
#include "models/bert_heads.h"
#include "train/training_step.h"

namespace cloze::tests {
namespace {

using graph::Phase;

constexpr double kLogitTolerance = 1e-5;  // absolute, the promise made for f32
constexpr double kLossTolerance = 1e-5;   // absolute

double largest(const std::vector<double>& values) {
  double result = 0.0;
  for (const double value : values) result = std::max(result, std::abs(value));
  return result;
}

// The largest gap between the first values of `actual` and all of `expected`.
double largest_gap(std::span<const float> actual, const std::vector<double>& expected) {
  EXPECT_GE(actual.size(), expected.size());
  double gap = 0.0;
  for (size_t i = 0; i < expected.size(); ++i) {
    gap = std::max(gap, std::abs(static_cast<double>(actual[i]) - expected[i]));
  }
  return gap;
}

// First-order rounding error of a gradient: every value on the way is a sum of at most K rounded
// terms, there are about `operators` sums in a row, and independent errors add like sqrt(K).
double gradient_tolerance(const models::BertConfig& config, double largest_value) {
  const double sum_length = static_cast<double>(
      std::max({config.intermediate_size, config.hidden_size, config.vocab_size}));
  const double operators = 2.0 * (8.0 * static_cast<double>(config.num_hidden_layers) + 8.0);
  return unit_roundoff(DType::kF32) * std::sqrt(sum_length) * operators * largest_value;
}

struct Case {
  const char* fixture;
  const char* backend;
};

class PretrainingFixtureTest : public testing::TestWithParam<Case> {
 protected:
  PretrainingFixture fixture_{GetParam().fixture};

  train::TrainingStepOptions step_options() const {
    return {.model = fixture_.config(),
            .capacity = fixture_.capacity(),
            .optimizer = {.kind = optim::OptimizerKind::kAdamW,
                          .epsilon = 1e-6,
                          .weight_decay_rate = 0.01,
                          .use_debiasing = true},
            .compile = {.backend = GetParam().backend}};
  }
  // The size of what is summed up to a gradient. A bias has the summands of its weight, and they
  // may cancel: the key bias shifts all scores of a row alike, so its exact gradient is 0.
  double gradient_scale(const std::string& name) const {
    double scale = largest(fixture_.expected("grad." + name));
    if (name.ends_with(".bias") && name != "cls.predictions.bias") {
      const std::string weight = name.substr(0, name.size() - 4) + "weight";
      scale = std::max(scale, largest(fixture_.expected("grad." + weight)));
    }
    EXPECT_GT(scale, 0.0) << name;
    return scale;
  }
  data::StepBatch batch() const { return data::pack(fixture_.samples(), fixture_.capacity()); }
};

TEST_P(PretrainingFixtureTest, LogitsOfEveryPosition) {
  // Every real position is predicted, in order.
  std::vector<data::Sample> samples = fixture_.samples();
  for (data::Sample& sample : samples) {
    sample.masked_positions.clear();
    for (size_t i = 0; i < sample.input_ids.size(); ++i) {
      sample.masked_positions.push_back(static_cast<int32_t>(i));
    }
    sample.masked_labels.assign(sample.input_ids.size(), 0);
  }
  data::MicroBatchCapacity capacity = fixture_.capacity();
  capacity.predictions = capacity.tokens;
  const data::StepBatch step = data::pack(samples, capacity);
  ASSERT_EQ(step.micro_batches.size(), 1u);
  const data::MicroBatch& micro_batch = step.micro_batches[0];

  graph::Graph graph;
  models::bert_for_inference(graph, fixture_.config(), {},
                             {capacity.tokens, capacity.sequences, capacity.predictions});
  engine::Session session(std::move(graph), {.backend = GetParam().backend});
  fixture_.load_parameters(session);
  inference::write_micro_batch(session, micro_batch);
  session.run(Phase::kMicroStep);

  EXPECT_LE(largest_gap(session.values<float>("prediction_logits"),
                        fixture_.expected("prediction_logits")),
            kLogitTolerance);
  EXPECT_LE(largest_gap(session.values<float>("seq_relationship_logits"),
                        fixture_.expected("seq_relationship_logits")),
            kLogitTolerance);
}

TEST_P(PretrainingFixtureTest, EveryGradient) {
  train::TrainingStep step(step_options());
  fixture_.load_parameters(step.session());
  const train::StepResult result = step.accumulate(batch(), 0);
  EXPECT_NEAR(result.losses[0].loss, fixture_.expected("mlm_loss")[0], kLossTolerance);
  EXPECT_NEAR(result.losses[1].loss, fixture_.expected("nsp_loss")[0], kLossTolerance);

  const auto gradients = step.session().graph().variables(graph::VariableRole::kGradient);
  const auto parameters = step.session().graph().variables(graph::VariableRole::kParameter);
  EXPECT_EQ(gradients.size(), parameters.size());
  for (const graph::Value parameter : parameters) {
    const std::string& name = step.session().graph().info(parameter).name;
    EXPECT_LE(largest_gap(step.session().values<float>("gradient." + name),
                          fixture_.expected("grad." + name)),
              gradient_tolerance(fixture_.config(), gradient_scale(name)))
        << name << ", scale " << gradient_scale(name);
  }
}

TEST_P(PretrainingFixtureTest, TenAdamWLosses) {
  train::TrainingStep step(step_options());
  fixture_.load_parameters(step.session());
  const std::vector<double> expected = fixture_.expected("adamw_losses");
  ASSERT_EQ(expected.size(), 10u);
  for (int64_t i = 0; i < 10; ++i) {
    EXPECT_NEAR(step.run(batch(), i, 1e-3).loss(), expected[i], kLossTolerance) << "step " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(AllBackends, PretrainingFixtureTest,
                         testing::Values(Case{"bert_pretraining_a", "reference"},
                                         Case{"bert_pretraining_b", "reference"},
                                         Case{"bert_pretraining_a", "cpu"},
                                         Case{"bert_pretraining_b", "cpu"}),
                         [](const auto& info) {
                           return std::string(info.param.fixture) + "_" + info.param.backend;
                         });

}  // namespace
}  // namespace cloze::tests
