#include "data/instances/masking.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace cloze::data {
namespace {

const VocabularyIds kVocabulary{.cls = 101, .sep = 102, .mask = 103, .size = 30522};

Sample sequence_of(int32_t length) {
  Sample sample;
  for (int32_t i = 0; i < length; ++i) sample.input_ids.push_back(1000 + i);
  sample.input_ids.front() = kVocabulary.cls;
  sample.input_ids.back() = kVocabulary.sep;
  sample.token_type_ids.assign(sample.input_ids.size(), 0);
  return sample;
}

TEST(MaskingTest, CountRoundsHalfToEvenWithinItsBounds) {
  MaskingOptions options;
  EXPECT_EQ(predictions_for(3, options), 1) << "at least one";
  EXPECT_EQ(predictions_for(30, options), 4) << "4.5 rounds to 4";
  EXPECT_EQ(predictions_for(10, options), 2) << "1.5 rounds to 2";
  EXPECT_EQ(predictions_for(128, options), 19);
  options.probability = 0.9;
  EXPECT_EQ(predictions_for(128, options), 20) << "at most M";
}

TEST(MaskingTest, SlotsLimitTheLengthAndLeaveTheShare) {
  EXPECT_EQ(longest_with_slots({}), 127) << "20 slots and 108 of 127 tokens, 19 being masked";
  EXPECT_EQ(longest_with_slots({.max_predictions = 60}), 80) << "60 slots and 68 of 80 tokens";
  EXPECT_EQ(longest_with_slots({.max_predictions = 1}), 128);
  for (const double probability : {0.0, 0.05, 0.15, 0.5, 1.0}) {
    for (int64_t slots = 1; slots < 128; ++slots) {
      const MaskingOptions options{.max_predictions = slots, .probability = probability};
      const auto taken = [&](int64_t length) {
        return slots + length - predictions_for(length, options);
      };
      const int64_t longest = longest_with_slots(options);
      EXPECT_LE(taken(longest), 128);
      if (longest < 128) {
        EXPECT_GT(taken(longest + 1), 128);
      }
    }
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

// Pieces of words: ids from 2000 go on with the word before.
TEST(MaskingTest, WholeWordsAreChosenWholeAndNeverTooMany) {
  std::vector<uint8_t> continues_word(30522);
  std::fill(continues_word.begin() + 2000, continues_word.end(), 1);
  VocabularyIds vocabulary = kVocabulary;
  vocabulary.continues_word = continues_word;
  const MaskingOptions options{.probability = 0.3, .whole_words = true};
  Sample before = sequence_of(60);
  for (size_t i = 1; i + 1 < before.input_ids.size(); ++i) {
    if (i % 4 > 1) before.input_ids[i] += 1000;  // words of one piece and of three
  }
  PhiloxSource random(5, 6);
  size_t most = 0;
  for (int round = 0; round < 200; ++round) {
    Sample sample = before;
    mask_sample(options, vocabulary, random, sample);
    const auto& chosen = sample.masked_positions;
    const auto is_chosen = [&](int32_t i) {
      return std::binary_search(chosen.begin(), chosen.end(), i);
    };
    for (int32_t i = 2; i + 1 < 60; ++i) {
      if (before.input_ids[i] >= 2000) {
        EXPECT_EQ(is_chosen(i), is_chosen(i - 1)) << i;
      }
    }
    EXPECT_LE(chosen.size(), 18u);
    most = std::max(most, chosen.size());
  }
  EXPECT_EQ(most, 18u);
}

}  // namespace
}  // namespace cloze::data
