#include "train/training_step.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/seconds.h"
#include "comm/loopback.h"
#include "data/loader.h"
#include "train/divergence.h"
#include "train/small_training_test.h"

namespace cloze::train {
namespace {

data::StepBatch first_batch(const TrainingOptions& options) {
  return data::load_step({.dataset = options.dataset,
                          .global_batch_size = options.global_batch_size,
                          .capacity = options.step.capacity,
                          .seed = options.step.seed},
                         0);
}

// A probe sums the gradients of all ranks, as a step does. Many take longer than one step.
TEST(TrainingStep, TheTimeOfProbesIsNotTheNextSteps) {
  comm::run_loopback(2, [](comm::Communicator& ranks) {
    const TrainingOptions options = small_training({}, ranks);
    const data::StepBatch batch = first_batch(options);
    TrainingStep step(options.step);
    step.session().initialize_parameters(options.step.seed);
    for (int i = 0; i < 50; ++i) {
      EXPECT_TRUE(has_finite_gradients(step, batch.micro_batches.front(), 0));
    }
    const auto start = std::chrono::steady_clock::now();
    const StepResult result = step.run(batch, 0, 0.01);
    const double seconds = seconds_since(start);
    EXPECT_GT(result.communication.value().seconds, 0.0);
    EXPECT_LE(result.communication->seconds, seconds);
  });
}

// Its losses may be looked at before its update, and its results when the next steps have run.
TEST(TrainingStep, ResultsAreThoseOfTheirStep) {
  const TrainingOptions options = small_training({});
  const data::StepBatch batch = first_batch(options);
  std::vector<StepResult> one_by_one;
  TrainingStep first(options.step), second(options.step);
  for (TrainingStep* const step : {&first, &second}) {
    step->session().initialize_parameters(options.step.seed);
  }
  for (int64_t i = 0; i < 3; ++i) one_by_one.push_back(first.run(batch, i, 0.01));
  std::vector<double> losses;
  for (int64_t i = 0; i < 3; ++i) {
    second.begin({.batch = &batch, .step = i, .learning_rate = 0.01});
    losses.push_back(second.losses().loss());
    second.finish();
  }
  const std::vector<StepResult> together = second.take_results();
  ASSERT_EQ(together.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(together[i].loss(), one_by_one[i].loss());
    EXPECT_EQ(losses[i], one_by_one[i].loss());
    EXPECT_EQ(together[i].gradient_norm, one_by_one[i].gradient_norm);
    EXPECT_TRUE(together[i].update_is_finite);
  }
  EXPECT_NE(losses[1], losses[0]);
  EXPECT_TRUE(second.take_results().empty());
}

// Pairs of texts of several lengths.
class PairDataset final : public data::Dataset {
 public:
  int64_t size() const override { return 12; }
  data::Sample sample(int64_t index, int64_t /*epoch*/) const override {
    const auto first = static_cast<int32_t>(3 + index % 4),
               second = static_cast<int32_t>(4 + index % 3);
    data::Sample sample{.choice_lengths = {first, second}};
    for (int32_t i = 0; i < first + second; ++i) {
      sample.input_ids.push_back(static_cast<int32_t>((7 * index + 5 * i) % 22));
    }
    sample.token_type_ids.resize(sample.input_ids.size());
    sample.score = static_cast<float>(index);
    return sample;
  }
  std::string fingerprint() const override { return "pairs"; }
};

// L = s^2, s = sum_i y_i (a_i . p_i): the gradient of a pair depends on all others.
double squared_sum(const models::StepVectors& vectors, std::span<float> gradients) {
  const auto width = static_cast<size_t>(vectors.dimensions);
  const auto pair = [&](int64_t i, size_t text) {
    return vectors.values.subspan((2 * static_cast<size_t>(i) + text) * width, width);
  };
  double sum = 0.0;
  for (int64_t i = 0; i < vectors.samples(); ++i) {
    for (size_t j = 0; j < width; ++j) sum += vectors.scores[i] * pair(i, 0)[j] * pair(i, 1)[j];
  }
  for (size_t i = 0; i < gradients.size(); ++i) {
    const size_t row = i / width;
    const double other = vectors.values[(row ^ 1) * width + i % width];
    gradients[i] = static_cast<float>(2.0 * sum * vectors.scores[row / 2] * other);
  }
  return sum * sum;
}

TrainingOptions vector_training(int64_t tokens, comm::Communicator& ranks = comm::alone()) {
  TrainingOptions options = small_training({}, ranks);
  options.step.head = {.kind = models::HeadKind::kEmbedding};
  options.step.capacity = {.tokens = tokens, .sequences = 32, .predictions = 0};
  options.step.vector_loss = {.name = "squared sum", .texts_per_sample = 2, .compute = squared_sum};
  options.step.model.hidden_dropout_prob = 0.2;
  options.dataset = std::make_shared<PairDataset>();
  return options;
}

struct VectorStep {
  double loss = 0.0;
  double gradient_norm = 0.0;
  std::vector<float> weights;  // of a layer, after the step
};

constexpr const char* kWeight = "bert.encoder.layer.0.output.dense.weight";

VectorStep vector_step(const TrainingOptions& options) {
  TrainingStep step(options.step);
  step.session().initialize_parameters(options.step.seed);
  const data::StepBatch batch = first_batch(options);
  const StepResult result = step.run(batch, 0, 0.01);
  return {result.loss(), result.gradient_norm, step.session().read<float>(kWeight)};
}

// Dropout included: both forward passes drop the same.
TEST(TrainingStep, ALossOfVectorsIsTheStepsWhateverTheMicroBatches) {
  const VectorStep whole = vector_step(vector_training(192));
  EXPECT_GT(whole.loss, 0.0);
  for (const int64_t tokens : {12, 24}) {
    const VectorStep parts = vector_step(vector_training(tokens));
    EXPECT_NEAR(parts.loss, whole.loss, 1e-6 * whole.loss) << tokens;
    EXPECT_NEAR(parts.gradient_norm, whole.gradient_norm, 1e-5 * whole.gradient_norm) << tokens;
  }
  TrainingOptions other_masks = vector_training(192);
  other_masks.step.model.hidden_dropout_prob = 0.0;
  EXPECT_NE(vector_step(other_masks).loss, whole.loss);
}

TEST(TrainingStep, ALossOfVectorsIsTheSameOnSeveralRanks) {
  TrainingOptions alone = vector_training(24);
  alone.step.reproducible_sums = true;
  const VectorStep expected = vector_step(alone);
  comm::run_loopback(2, [&](comm::Communicator& ranks) {
    TrainingOptions shared = vector_training(24, ranks);
    const VectorStep summed = vector_step(shared);
    EXPECT_EQ(summed.loss, expected.loss);
    EXPECT_NEAR(summed.gradient_norm, expected.gradient_norm, 1e-5 * expected.gradient_norm);
    shared.step.reproducible_sums = true;
    const VectorStep reproduced = vector_step(shared);
    EXPECT_EQ(reproduced.loss, expected.loss);
    EXPECT_EQ(reproduced.gradient_norm, expected.gradient_norm);
    EXPECT_EQ(reproduced.weights, expected.weights);
  });
}

// Compared with the difference of the losses on both sides of a bias.
TEST(TrainingStep, ALossOfVectorsHasTheGradientOfItsDifferences) {
  const TrainingOptions options = vector_training(24);
  const data::StepBatch batch = first_batch(options);
  TrainingStep step(options.step);
  step.session().initialize_parameters(options.step.seed);
  constexpr const char* kBias = "bert.encoder.layer.0.output.dense.bias";
  std::vector<float> bias = step.session().read<float>(kBias);
  step.accumulate(batch, 0);
  const std::vector<float> gradient = step.session().read<float>(std::string("gradient.") + kBias);
  for (size_t i = 0; i < bias.size(); ++i) {
    constexpr float kStep = 0x1p-7f;
    const auto loss_at = [&](float value) {
      std::vector<float> moved = bias;
      moved[i] = value;
      step.session().write<float>(kBias, moved);
      step.session().refresh();
      return step.accumulate(batch, 0).loss();
    };
    const double slope = (loss_at(bias[i] + kStep) - loss_at(bias[i] - kStep)) / (2.0 * kStep);
    EXPECT_NEAR(gradient[i], slope, 0.01 * std::abs(slope) + 0.01) << i;
  }
}

}  // namespace
}  // namespace cloze::train
