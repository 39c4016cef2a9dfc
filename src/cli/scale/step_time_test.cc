#include "cli/scale/step_time.h"

#include <gtest/gtest.h>

#include "cli/scale/example_steps_test.h"

namespace cloze::cli {
namespace {

// Of equal stages without messages: (S-1) of the S-1 + M turns.
TEST(StepTime, TheBubbleOfEqualStagesIsKnown) {
  for (const auto schedule : {PipelineSchedule::kGrouped, PipelineSchedule::kInterleaved}) {
    const StepModel model =
        model_of({.stages = 4, .micro_batches = 5, .schedule = schedule}, endless_network());
    const StepTime time = step_time(model);
    EXPECT_NEAR(time.pipeline(), 8 * 3e-3, 1e-9);
    EXPECT_NEAR(time.bubble_share(), 3.0 / 8.0, 1e-6);
  }
  const StepModel sequential =
      model_of({.stages = 4, .micro_batches = 5, .schedule = PipelineSchedule::kSequential},
               endless_network());
  EXPECT_NEAR(step_time(sequential).pipeline(), 5 * 4 * 3e-3, 1e-9);
}

// Two ranks on a host: each sends 5 MiB to the other, twice, in 3 buckets of messages of 256 KiB,
// the last of which waits for the end of the backward pass.
TEST(StepTime, SumsHideBehindTheBackwardPass) {
  NetworkRates network = cluster(1.0);
  StepModel model = model_of({.replicas = 2, .micro_batches = 2}, network);
  const auto sum = [&](double mebibytes) {
    const double bytes = mebibytes * (1 << 20) / 2;
    return 2 * (bytes / 50e9 + 2e-6 + 4 * mebibytes / 2 * 1e-6);
  };
  const double agreement = 2 * network.inside_host.latency;
  EXPECT_NEAR(step_time(model).gradients, sum(2) + agreement, 1e-9);
  // Where the cores do the copying nothing is hidden.
  model.network.overlap = 0.0;
  EXPECT_NEAR(step_time(model).gradients, sum(4) + sum(4) + sum(2) + agreement, 1e-9);
}

TEST(StepTime, PartsAddUp) {
  const StepModel model =
      model_of({.replicas = 8, .stages = 2, .micro_batches = 4, .is_sharded = true}, cluster(1.0));
  const StepTime time = step_time(model);
  EXPECT_DOUBLE_EQ(time.computing, 4 * 3e-3);
  EXPECT_NEAR(time.update, 1e-3 * 0.2, 1e-12);  // two of ten tensors
  EXPECT_GT(time.parameters, 0.0);
  EXPECT_DOUBLE_EQ(time.seconds(),
                   time.computing + time.bubble + time.gradients + time.update + time.parameters);
}

}  // namespace
}  // namespace cloze::cli
