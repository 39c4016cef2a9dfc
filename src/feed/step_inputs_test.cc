#include "feed/step_inputs.h"

#include <gtest/gtest.h>

namespace cloze::feed {
namespace {

constexpr MicroBatchSize kFull{.tokens = 43, .sequences = 5, .predictions = 9};

TEST(MicroBatchSizes, AreTheFewestEighthsThatHoldAMicroBatch) {
  const auto eighths = [](int64_t of, int64_t count) { return (of * count + 7) / 8; };
  for (int64_t tokens = 1; tokens <= kFull.tokens; ++tokens) {
    for (int64_t predictions = 0; predictions <= kFull.predictions; ++predictions) {
      int64_t count = 1;
      while (eighths(kFull.tokens, count) < tokens ||
             eighths(kFull.predictions, count) < predictions) {
        ++count;
      }
      const MicroBatchSize expected{eighths(kFull.tokens, count), kFull.sequences,
                                    eighths(kFull.predictions, count)};
      EXPECT_EQ(eighths_for({tokens, 3, predictions}, kFull), expected)
          << tokens << " " << predictions;
    }
  }
}

// Of two micro-batches, some of whose rows have no label.
data::StepBatch labelled_batch() {
  data::StepBatch batch{.num_sequences = 5, .num_predictions = 4};
  for (const auto& labels : {std::vector<int32_t>{0, 2, -1}, {2, 1, -1, -1}}) {
    batch.micro_batches.push_back({.masked_labels = labels, .class_labels = {1, 1, -1}});
  }
  return batch;
}

TEST(Normalizers, CountRowsOrTheWeightsOfTheirLabels) {
  const data::StepBatch batch = labelled_batch();
  EXPECT_EQ(normalizer_of({.name = "class"}, batch), 1.0 / 5);
  EXPECT_EQ(normalizer_of({.name = "tag", .per_prediction = true}, batch), 1.0 / 4);
  const std::vector<float> weights = {0.5f, 2.0f, 4.0f};
  const LossTerm classes{.name = "class", .class_weights = weights};
  const LossTerm tags{.name = "tag", .per_prediction = true, .class_weights = weights};
  EXPECT_EQ(normalizer_of(classes, batch), 1.0 / (4 * 2.0));
  EXPECT_EQ(normalizer_of(tags, batch), 1.0 / (0.5 + 4.0 + 4.0 + 2.0));
  EXPECT_EQ(share_of_each(tags, batch), 1.0 / 4) << "of accuracies";
  EXPECT_EQ(normalizer_of({.name = "class", .class_weights = {1.0f, 0.0f}}, batch), 1.0);
}

}  // namespace
}  // namespace cloze::feed
