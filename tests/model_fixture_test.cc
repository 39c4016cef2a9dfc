// BERT and GroupBERT with their heads against transformers and torch: logits, every gradient, ten
// AdamW losses.
#include "model_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "data/packer.h"
#include "feed/micro_batch_inputs.h"
#include "models/bert_heads.h"
#include "train/training_step.h"

namespace cloze::tests {
namespace {

constexpr double kLogitTolerance = 1e-5;  // absolute, the promise made for f32
constexpr double kLossTolerance = 1e-5;   // absolute

double largest(const std::vector<double>& values) {
  double result = 0.0;
  for (const double value : values) result = std::max(result, std::abs(value));
  return result;
}

// The largest gap between the first values of `actual` and all of `expected`; NaN where one is.
double largest_gap(std::span<const float> actual, const std::vector<double>& expected) {
  EXPECT_GE(actual.size(), expected.size());
  double gap = 0.0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(static_cast<double>(actual[i]) - expected[i]);
    if (!(difference <= gap)) gap = difference;
    if (std::isnan(gap)) break;
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
  const char* device;
};

class ModelFixtureTest : public testing::TestWithParam<Case> {
 protected:
  ModelFixture fixture_{GetParam().fixture};

  train::TrainingStepOptions step_options() const {
    return {.model = fixture_.config(),
            .head = fixture_.head(),
            .capacity = fixture_.capacity(),
            .optimizer = {.name = "adamw",
                          .epsilon = 1e-6,
                          .weight_decay_rate = 0.01,
                          .use_debiasing = true,
                          .max_gradient_norm = 0},
            .compile = {.device = GetParam().device}};
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

TEST_P(ModelFixtureTest, LogitsOfEveryPosition) {
  const bool predicts_words = fixture_.head().traits().predicts_words();
  // Every real position is predicted, in order.
  std::vector<data::Sample> samples = fixture_.samples();
  for (data::Sample& sample : samples) {
    const size_t predictions = predicts_words ? sample.input_ids.size() : 0;
    sample.masked_positions.resize(predictions);
    std::iota(sample.masked_positions.begin(), sample.masked_positions.end(), 0);
    sample.masked_labels.assign(predictions, 0);
  }
  data::MicroBatchCapacity capacity = fixture_.capacity();
  capacity.predictions = predicts_words ? capacity.tokens : 0;
  const data::StepBatch step = data::pack(samples, capacity);
  ASSERT_EQ(step.micro_batches.size(), 1u);

  graph::Graph graph;
  models::bert_for_inference(graph, fixture_.config(), fixture_.head(),
                             {capacity.tokens, capacity.sequences, capacity.predictions});
  engine::Session session(std::move(graph), {.device = GetParam().device});
  fixture_.load_parameters(session);
  feed::write_micro_batch(session, step.micro_batches[0]);
  session.run(graph::kMicroStep);
  for (const models::HeadOutput& output : fixture_.head().traits().outputs) {
    const std::vector<double> expected = fixture_.expected(output.name);
    EXPECT_LE(largest_gap(session.read<float>(output.name), expected), kLogitTolerance)
        << output.name;
  }
}

TEST_P(ModelFixtureTest, EveryGradient) {
  train::TrainingStep step(step_options());
  fixture_.load_parameters(step.session());
  const train::StepResult result = step.accumulate(batch(), 0);
  for (const train::LossValue& part : result.losses) {
    EXPECT_NEAR(part.loss, fixture_.expected(part.name + "_loss")[0], kLossTolerance) << part.name;
  }

  const auto gradients = step.session().graph().variables(graph::VariableRole::kGradient);
  const auto parameters = step.session().graph().variables(graph::VariableRole::kParameter);
  EXPECT_EQ(gradients.size(), parameters.size());
  for (const graph::Value parameter : parameters) {
    const std::string& name = step.session().graph().info(parameter).name;
    EXPECT_LE(largest_gap(step.session().read<float>("gradient." + name),
                          fixture_.expected("grad." + name)),
              gradient_tolerance(fixture_.config(), gradient_scale(name)))
        << name << ", scale " << gradient_scale(name);
  }
}

TEST_P(ModelFixtureTest, TenAdamWLosses) {
  train::TrainingStep step(step_options());
  fixture_.load_parameters(step.session());
  const std::vector<double> expected = fixture_.expected("adamw_losses");
  ASSERT_EQ(expected.size(), 10u);
  for (int64_t i = 0; i < 10; ++i) {
    EXPECT_NEAR(step.run(batch(), i, 1e-3).loss(), expected[i], kLossTolerance) << "step " << i;
  }
}

constexpr std::array kFixtures{"bert_pretraining_a",
                               "bert_pretraining_b",
                               "bert_question_answering",
                               "bert_classification",
                               "bert_regression",
                               "bert_multi_label",
                               "bert_multiple_choice",
                               "bert_token_classification",
                               "groupbert_pretraining",
                               "groupbert_pretraining_tf1",
                               "groupbert_question_answering"};

// On every device that has all kernels, or on the one that CLOZE_TEST_DEVICE names, as
// scripts/gpu_check does.
std::vector<Case> cases() {
  std::vector<const char*> devices{"reference", "cpu", "emulated"};
  if (const char* named = std::getenv("CLOZE_TEST_DEVICE")) devices = {named};
  std::vector<Case> cases;
  for (const char* device : devices) {
    for (const char* fixture : kFixtures) cases.push_back({fixture, device});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(AllBackends, ModelFixtureTest, testing::ValuesIn(cases()),
                         [](const auto& info) {
                           return std::string(info.param.fixture) + "_" + info.param.device;
                         });

}  // namespace
}  // namespace cloze::tests
