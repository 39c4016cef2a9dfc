#include "data/records/record_encoder.h"

#include <gtest/gtest.h>

namespace cloze::data {
namespace {

using Ids = std::vector<int32_t>;

// [CLS] 10 11 12 13 [SEP] 20 21 22 [SEP], with 13 and 21 masked.
Sample pair() {
  return {.input_ids = {1, 10, 11, 12, 3, 2, 20, 3, 22, 2},
          .token_type_ids = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1},
          .masked_positions = {4, 7},
          .masked_labels = {13, 21}};
}

TEST(SlotRoomTest, WhatFitsStays) {
  Sample sample = pair();
  const RecordLayout layout{.sequence_length = 11, .max_predictions = 3};
  EXPECT_EQ(slots_of(sample, layout), 11);
  EXPECT_EQ(make_slot_room(layout, sample), 0);
  EXPECT_EQ(sample.input_ids, pair().input_ids);
}

TEST(SlotRoomTest, TheLongerPartGivesItsLastTokensThatAreNotMasked) {
  Sample sample = pair();
  EXPECT_EQ(make_slot_room({.sequence_length = 9, .max_predictions = 3}, sample), 2);
  EXPECT_EQ(sample.input_ids, (Ids{1, 10, 3, 2, 20, 3, 22, 2}));
  EXPECT_EQ(sample.token_type_ids, (Ids{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(sample.masked_positions, (Ids{2, 5}));
  EXPECT_EQ(sample.masked_labels, (Ids{13, 21}));
}

TEST(SlotRoomTest, ASinglePartIsEnough) {
  Sample sample{.input_ids = {1, 10, 11, 3, 2},
                .token_type_ids = {0, 0, 0, 0, 0},
                .masked_positions = {3},
                .masked_labels = {12}};
  EXPECT_EQ(make_slot_room({.sequence_length = 5, .max_predictions = 2}, sample), 1);
  EXPECT_EQ(sample.input_ids, (Ids{1, 10, 3, 2}));
  EXPECT_EQ(sample.masked_positions, (Ids{2}));
}

TEST(SlotRoomTest, MaskedAndSpecialTokensAreNeverTaken) {
  Sample sample = pair();
  const RecordLayout layout{.sequence_length = 5, .max_predictions = 4};
  EXPECT_EQ(make_slot_room(layout, sample), 5);
  EXPECT_EQ(sample.input_ids, (Ids{1, 3, 2, 3, 2}));
  EXPECT_GT(slots_of(sample, layout), layout.sequence_length);
}

}  // namespace
}  // namespace cloze::data
