#include "train/training_step.h"

#include <gtest/gtest.h>

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

// A probe sums the gradients of all ranks, as a step does. An update that is not divided sends
// none.
TEST(TrainingStep, TheTimeOfAProbeIsNotTheNextSteps) {
  comm::run_loopback(2, [](comm::Communicator& ranks) {
    const TrainingOptions options = small_training({}, ranks);
    const data::StepBatch batch = first_batch(options);
    TrainingStep step(options.step);
    step.session().initialize_parameters(options.step.seed);
    StepResult result = step.accumulate(batch, 0);
    EXPECT_GT(result.communication.value().seconds, 0.0);
    step.finish(result, 0, 0.01);
    EXPECT_GT(result.communication->seconds, 0.0);

    EXPECT_TRUE(has_finite_gradients(step, batch.micro_batches.front(), 0));
    StepResult next;
    step.finish(next, 1, 0.01);
    EXPECT_EQ(next.communication.value().seconds, 0.0);
  });
}

}  // namespace
}  // namespace cloze::train
