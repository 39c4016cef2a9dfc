#include "data/creation/masking.h"

#include <gtest/gtest.h>

namespace cloze::data {
namespace {

constexpr VocabularyIds kVocabulary{.cls = 101, .sep = 102, .mask = 103, .size = 30522};

Sample sequence_of(int32_t length) {
  Sample sample;
  for (int32_t i = 0; i < length; ++i) sample.input_ids.push_back(1000 + i);
  sample.input_ids.front() = kVocabulary.cls;
  sample.input_ids.back() = kVocabulary.sep;
  sample.token_type_ids.assign(sample.input_ids.size(), 0);
  return sample;
}

TEST(MaskingTest, CountRoundsHalfToEvenWithinItsBounds) {
  MaskingOptions options{.keep_room_for_slots = false};
  EXPECT_EQ(predictions_for(3, options), 1) << "at least one";
  EXPECT_EQ(predictions_for(30, options), 4) << "4.5 rounds to 4";
  EXPECT_EQ(predictions_for(10, options), 2) << "1.5 rounds to 2";
  EXPECT_EQ(predictions_for(128, options), 19);
  options.probability = 0.9;
  EXPECT_EQ(predictions_for(128, options), 20) << "at most M";
}

TEST(MaskingTest, FullSequencesGetSoManyThatTheSlotsFit) {
  const MaskingOptions options;
  EXPECT_EQ(predictions_for(128, options), 20);
  EXPECT_EQ(predictions_for(127, options), 19);
  for (int64_t length = 5; length <= 128; ++length) {
    EXPECT_LE(options.max_predictions + length - predictions_for(length, options), 128);
  }
}

TEST(MaskingTest, LabelsRestoreTheSequence) {
  const Sample before = sequence_of(100);
  PhiloxSource random(1, 2);
  Sample after = before;
  mask_sample({}, kVocabulary, random, after);
  ASSERT_EQ(after.masked_positions.size(), 15u);
  EXPECT_NE(after.input_ids, before.input_ids);
  for (size_t i = 0; i < after.masked_positions.size(); ++i) {
    if (i > 0) {
      EXPECT_LT(after.masked_positions[i - 1], after.masked_positions[i]);
    }
    after.input_ids[static_cast<size_t>(after.masked_positions[i])] = after.masked_labels[i];
  }
  EXPECT_EQ(after.input_ids, before.input_ids);
}

TEST(MaskingTest, SharesOfTheThreeReplacements) {
  PhiloxSource random(3, 4);
  const Sample before = sequence_of(128);
  double masked = 0, kept = 0, replaced = 0;
  for (int i = 0; i < 1000; ++i) {
    Sample sample = before;
    mask_sample({}, kVocabulary, random, sample);
    for (int32_t position : sample.masked_positions) {
      const auto p = static_cast<size_t>(position);
      EXPECT_NE(before.input_ids[p], kVocabulary.cls);
      EXPECT_NE(before.input_ids[p], kVocabulary.sep);
      const int32_t id = sample.input_ids[p];
      ++(id == kVocabulary.mask ? masked : id == before.input_ids[p] ? kept : replaced);
    }
  }
  // 20,000 draws: the standard deviation of a share is under 0.003.
  const double all = masked + kept + replaced;
  EXPECT_NEAR(masked / all, 0.8, 0.012);
  EXPECT_NEAR(kept / all, 0.1, 0.012);
  EXPECT_NEAR(replaced / all, 0.1, 0.012);
}

TEST(MaskingTest, SequenceOfSpecialTokensOnlyIsLeftAlone) {
  Sample sample;
  sample.input_ids = {101, 102, 102};
  PhiloxSource random(1, 1);
  mask_sample({}, kVocabulary, random, sample);
  EXPECT_TRUE(sample.masked_positions.empty());
}

}  // namespace
}  // namespace cloze::data
