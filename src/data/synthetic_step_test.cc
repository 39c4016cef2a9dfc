#include "data/loader.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "data/generated_dataset.h"

namespace cloze::data {
namespace {

LoaderOptions options_of(int64_t samples, int64_t global_batch_size) {
  return {.dataset = std::make_shared<GeneratedDataset>(GeneratedOptions{
              .sequence_length = 10, .max_predictions = 3, .vocabulary_size = 50, .size = samples}),
          .global_batch_size = global_batch_size,
          .capacity = {.tokens = 45, .sequences = 8, .predictions = 20}};
}

// Totals are those of the work that is done.
TEST(SyntheticStep, IsOneMicroBatchForAllPasses) {
  const StepBatch batch = synthetic_step(options_of(4, 12));
  ASSERT_EQ(batch.micro_batches.size(), 1u);
  EXPECT_EQ(batch.micro_batches.front().num_tokens, 40);
  EXPECT_EQ(batch.synthetic_passes, 3);
  EXPECT_EQ(batch.num_tokens, 120);
  EXPECT_EQ(batch.num_sequences, 12);
  EXPECT_EQ(batch.num_predictions, 36);
}

// Of the means of 12 sequences each is a twelfth.
TEST(SyntheticStep, WeightsOfAllPassesAddUpToOne) {
  const StepBatch batch = synthetic_step(options_of(4, 12));
  const auto& weights = batch.micro_batches.front().prediction_weights;
  const double once = std::accumulate(weights.begin(), weights.end(), 0.0);
  EXPECT_NEAR(once * 3.0, 1.0, 1e-6);
}

TEST(SyntheticStep, WhatIsNoWholeNumberOfPassesIsAnError) {
  EXPECT_THROW(synthetic_step(options_of(4, 10)), InternalError);
  EXPECT_THROW(synthetic_step(options_of(5, 10)), InternalError) << "of 45 tokens four are taken";
}

}  // namespace
}  // namespace cloze::data
