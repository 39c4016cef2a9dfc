#include "train/training_step.h"

#include <gtest/gtest.h>

#include <chrono>
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

}  // namespace
}  // namespace cloze::train
