#include "data/records/packed_record.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"

namespace cloze::data {
namespace {

constexpr RecordShape kShape{.sequence_length = 12, .max_predictions = 2, .vocabulary_size = 100};

std::vector<uint32_t> words_of(const std::string& bytes) {
  std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

const Sample kFirst{.input_ids = {2, 11, 12, 3},
                    .token_type_ids = {0, 0, 1, 1},
                    .masked_positions = {2},
                    .masked_labels = {51},
                    .next_sentence_label = 1};
const Sample kSecond{.input_ids = {2, 21, 22, 23, 3},
                     .token_type_ids = {0, 0, 0, 1, 1},
                     .masked_positions = {1, 3},
                     .masked_labels = {61, 62},
                     .next_sentence_label = 0};

// In the order of Graphcore's program: masked tokens, others, unused slots, first tokens.
TEST(PackEncoder, LaysSlotsAsGraphcoresProgram) {
  EXPECT_EQ(words_of(encode_pack(std::vector{kFirst, kSecond}, kShape)),
            (std::vector<uint32_t>{12, 21, 23, 11, 3, 22, 3, 0, 0, 0, 2, 2,  // ids
                                   1,  2,  2,  1,  1, 2,  2, 0, 0, 0, 1, 2,  // mask
                                   1,  0,  1,  0,  1, 0,  1, 0, 0, 0, 0, 0,  // segments
                                   2,  1,  3,  1,  3, 2,  4, 0, 0, 0, 0, 0,  // positions
                                   51, 61, 62, 0,                            // labels
                                   1,  2,  2,  0,                            // weights
                                   0,  1,  0,                                // next sentence
                                   0,  1,  1}));
}

TEST(PackEncoder, WhatDoesNotFitIsRefused) {
  const auto refusal = [](const std::vector<Sample>& samples, const RecordShape& shape) {
    try {
      encode_pack(samples, shape);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal({kSecond, kSecond, kFirst}, kShape),
            "3 sequences with 14 tokens do not fit a pack of 12; raise pack_tokens");
  EXPECT_EQ(refusal({kSecond, kSecond, kFirst}, {.sequence_length = 14, .max_predictions = 2}),
            "3 sequences have more predictions than the 4 of a pack; lower pack_tokens, or pack "
            "samples with a larger max_predictions_per_seq than 2");
  Sample first_is_masked = kFirst;
  first_is_masked.masked_positions = {0};
  EXPECT_EQ(refusal({first_is_masked}, kShape),
            "a record has its first token masked, which a pack has no slot for; make the records "
            "again");
}

}  // namespace
}  // namespace cloze::data
