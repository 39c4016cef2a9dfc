#include "data/sequence.h"

#include <gtest/gtest.h>

namespace cloze::data {
namespace {

using Ids = std::vector<int32_t>;
const BorderIds kBorders{.cls = 1, .sep = 2};

TEST(SequenceTest, TwoPartsAreOfTwoTypes) {
  const Sample sample = sequence_of(Ids{10, 11}, Ids{20}, kBorders, 1);
  EXPECT_EQ(sample.input_ids, (Ids{1, 10, 11, 2, 20, 2}));
  EXPECT_EQ(sample.token_type_ids, (Ids{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(sample.next_sentence_label, 1);
}

TEST(SequenceTest, OnePartEndsWithItsSeparator) {
  const Sample sample = sequence_of(Ids{10}, std::nullopt, kBorders, -1);
  EXPECT_EQ(sample.input_ids, (Ids{1, 10, 2}));
  EXPECT_EQ(sample.token_type_ids, (Ids{0, 0, 0}));
  EXPECT_EQ(sample.next_sentence_label, -1);
}

TEST(SequenceTest, CountsItsBorders) {
  EXPECT_EQ(std::ssize(sequence_of(Ids{10}, Ids{20}, kBorders).input_ids), kShortestPair);
  EXPECT_EQ(std::ssize(sequence_of(Ids{}, Ids{}, kBorders).input_ids), num_borders(true));
  EXPECT_EQ(std::ssize(sequence_of(Ids{}, std::nullopt, kBorders).input_ids), num_borders(false));
}

TEST(SequenceTest, AnEmptySecondPartIsAPart) {
  const Sample sample = sequence_of(Ids{10}, Ids{}, kBorders);
  EXPECT_EQ(sample.input_ids, (Ids{1, 10, 2, 2}));
  EXPECT_EQ(sample.token_type_ids, (Ids{0, 0, 0, 1}));
}

}  // namespace
}  // namespace cloze::data
