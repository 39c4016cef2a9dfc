#include "forecast/step_time.h"

#include <gtest/gtest.h>

#include "forecast/example_steps_test.h"

namespace cloze::forecast {
namespace {

// For equal stages without messages: (S-1) of the S-1 + M turns.
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

// Of 10 MiB in three buckets, all but the last bucket, 2 MiB of each rank, are sent while others
// are updated; unless the cores that update do the copying.
TEST(StepTime, DividedUpdatesTravelBesideTheUpdate) {
  StepModel model = model_of({.replicas = 2, .micro_batches = 2, .is_sharded = true}, cluster(1.0));
  const auto given = [](double mebibytes) {
    return mebibytes * (1 << 20) / 50e9 + 4 * mebibytes * 1e-6 + 2e-6;
  };
  EXPECT_NEAR(step_time(model).update, 5e-4, 1e-9);
  EXPECT_NEAR(step_time(model).parameters, given(2), 1e-9);
  model.network.overlap = 0.0;
  EXPECT_NEAR(step_time(model).parameters, given(1) + given(2) + given(2), 1e-9);
}

// Each stage sums 10 MiB; before that, the first stage receives the gradients of the 1 MiB that it
// shares with the last stage, which gets the parameters back after the update.
TEST(StepTime, APipelineSumsAfterItsPasses) {
  const StepModel model = model_of({.replicas = 2, .stages = 2, .micro_batches = 4}, cluster(1.0));
  const auto sum = [](double mebibytes) {
    return 2 * (mebibytes * (1 << 20) / 2 / 50e9 + 4 * mebibytes / 2 * 1e-6 + 2e-6);
  };
  const double tied = (1 << 20) / 50e9 + 4 * 1e-6 + 2e-6;
  EXPECT_NEAR(model.tied_seconds(), tied, 1e-9);
  EXPECT_NEAR(step_time(model).gradients,
              tied + sum(4) + sum(4) + sum(2) + model.agreement_seconds(), 1e-9);
  EXPECT_NEAR(step_time(model).update, 1e-3, 1e-9);
  EXPECT_NEAR(step_time(model).parameters, tied, 1e-9);
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
}  // namespace cloze::forecast
