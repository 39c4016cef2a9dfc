#include "forecast/step_model.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "forecast/example_steps_test.h"

namespace cloze::forecast {
namespace {

TEST(StepModel, TrafficFollowsTheAlgorithms) {
  const StepModel model = model_of(
      {.replicas = 4, .stages = 2, .micro_batches = 3, .is_sharded = true}, endless_network());
  const RankTraffic traffic = traffic_of(model, 0);
  const double mebibyte = 1 << 20;
  EXPECT_EQ(traffic.gradients, 0.75 * 10 * mebibyte);  // (R-1)/R of each byte
  EXPECT_EQ(traffic.parameters, 3 * 3 * mebibyte);     // three tensors, to three replicas
  EXPECT_EQ(traffic.boundaries, 3 * mebibyte);
  EXPECT_EQ(traffic.tied, mebibyte);
  const StepModel plain = model_of({.replicas = 4}, endless_network());
  EXPECT_EQ(traffic_of(plain, 0).gradients, 2 * 0.75 * 10 * mebibyte);
  EXPECT_EQ(traffic_of(plain, 0).parameters, 0.0);
  const StepModel narrow = model_of({.replicas = 4, .gradient_bytes = 2}, endless_network());
  EXPECT_EQ(traffic_of(narrow, 0).gradients, 0.75 * 10 * mebibyte);
}

TEST(StepModel, GradientsLeaveInBucketsWhenTheirLastIsFinished) {
  const StepModel model = model_of({.replicas = 2}, endless_network());
  const std::vector<GradientBucket> buckets = model.buckets(0);
  ASSERT_EQ(buckets.size(), 3u);
  EXPECT_EQ(buckets[0].bytes, 4 << 20);
  EXPECT_DOUBLE_EQ(buckets[0].at, 8e-4);
  EXPECT_EQ(buckets[2].bytes, 2 << 20);
  EXPECT_DOUBLE_EQ(buckets[2].at, 2e-3);
}

TEST(StepModel, OwnersOfWholeTensorsHaveNoLessThanTheLargest) {
  StepModel model = model_of({.replicas = 4, .is_sharded = true}, endless_network());
  EXPECT_DOUBLE_EQ(model.owned_share(0), 0.3);  // three of ten tensors
  // Dealt out in the order of the updates, in which the gradient that is finished last is the first.
  EXPECT_EQ(model.owners(0), (std::vector<int>{1, 0, 3, 2, 1, 0, 3, 2, 1, 0}));
  EXPECT_EQ(model.buckets(0)[2].shares, (std::vector<double>{1 << 20, 1 << 20, 0, 0}));
  model.layout.replicas = 10;
  EXPECT_DOUBLE_EQ(model.owned_share(0), 0.1);
  model.layout.is_sharded = false;
  EXPECT_EQ(model.owned_share(0), 1.0);
}

// Two replicas own five tensors each, and update them by turns, 0.1 ms each.
TEST(StepModel, UpdatesLeaveInTheBucketsOfGradientsInTheirOwnOrder) {
  StepModel model = model_of({.replicas = 2, .is_sharded = true}, endless_network());
  model.stages[0].norm = 2e-3;
  const std::vector<UpdatedBucket> buckets = model.updated_buckets(0);
  ASSERT_EQ(buckets.size(), 3u);
  EXPECT_EQ(buckets[0].shares, (std::vector<double>{1 << 20, 1 << 20}));
  EXPECT_EQ(buckets[2].shares, (std::vector<double>{2 << 20, 2 << 20}));
  for (const int replica : {0, 1}) {
    const auto i = static_cast<size_t>(replica);
    EXPECT_DOUBLE_EQ(buckets[0].at[i], 1e-3 + 1e-4);  // half of the norm, too
    EXPECT_DOUBLE_EQ(buckets[1].at[i], 1e-3 + 3e-4);
    EXPECT_DOUBLE_EQ(buckets[2].at[i], 1e-3 + 5e-4);
    EXPECT_DOUBLE_EQ(model.update_seconds(0, replica), 1e-3 + 5e-4);
  }
  model.layout.is_sharded = false;
  EXPECT_DOUBLE_EQ(model.update_seconds(0, 0), 2e-3 + 1e-3);
}

// train/training_step.cc: the schedule controls its passes.
TEST(StepModel, APipelineSumsAfterItsPasses) {
  const StepModel pipeline = model_of({.replicas = 2, .stages = 2}, endless_network());
  EXPECT_EQ(pipeline.sums_lead(0), 0.0);
  for (const GradientBucket& bucket : pipeline.buckets(1)) EXPECT_EQ(bucket.at, 0.0);
  const StepModel plain = model_of({.replicas = 2}, endless_network());
  EXPECT_EQ(plain.sums_lead(0), 2e-3);
}

TEST(StepModel, MessagesTakeMemoryOfSeveralRanksOnly) {
  StepModel model = model_of({}, endless_network());
  EXPECT_EQ(message_bytes(model), 0);
  model.layout.replicas = 2;
  model.stages[0].gradient_bytes = 10 << 20;
  EXPECT_EQ(message_bytes(model), 25 << 20);
  model.stages[0].gradient_bytes = 100 << 20;
  EXPECT_EQ(message_bytes(model), 31 << 20);
  EXPECT_EQ(message_bytes(model_of({.stages = 2}, endless_network())), 23 << 20);
  model = model_of({.replicas = 2, .stages = 2}, endless_network());
  model.stages[0].gradient_bytes = 10 << 20;
  EXPECT_EQ(message_bytes(model), 41 << 20);
}

// More owners than tensors.
TEST(StepModel, AShareOfTheStatesIsATensorAtLeast) {
  try {
    model_of({.replicas = 16, .is_sharded = true}, endless_network()).require();
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("divides the 10 parameters of a stage of 2 layers, and "
                        "there are 16 replicas"),
              std::string::npos)
        << error.what();
  }
}

TEST(StepModel, StagesHaveToFitHosts) {
  model_of({.replicas = 4, .stages = 4}, cluster(1.0)).require();
  model_of({.replicas = 4, .stages = 8}, cluster(1.0)).require();
  try {
    model_of({.replicas = 4, .stages = 3}, cluster(1.0)).require();
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("4 ranks per host, and pipeline_stages is 3"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace cloze::forecast
