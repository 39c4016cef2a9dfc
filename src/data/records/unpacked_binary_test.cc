#include "data/records/unpacked_binary.h"

#include <gtest/gtest.h>

#include <cstring>

#include "data/records/record_dataset.h"
#include "platform/files/atomic_file.h"

namespace cloze::data {
namespace {

constexpr RecordShape kShape{.sequence_length = 6, .max_predictions = 2, .vocabulary_size = 100};
constexpr RecordLayout kLayout{.sequence_length = 6, .max_predictions = 2, .binary = true};
const Sample kSample{.input_ids = {2, 11, 12, 13, 3},
                     .token_type_ids = {0, 0, 1, 1, 1},
                     .masked_positions = {2},
                     .masked_labels = {51},
                     .next_sentence_label = 1};

// As record_to_binary writes it.
TEST(UnpackedBinary, HasThePartsInGraphcoresOrder) {
  const std::string bytes = encode_unpacked_binary(kSample, kLayout);
  ASSERT_EQ(bytes.size(), unpacked_binary_bytes(kShape));
  std::vector<uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  EXPECT_EQ(words, (std::vector<uint32_t>{2, 11, 12, 13, 3, 0, 1, 1,  1, 1, 1, 0, 0,
                                          0, 1,  1,  1,  0, 2, 0, 51, 0, 1, 0, 1}));
  EXPECT_EQ(unpacked_binary_bytes({.sequence_length = 512, .max_predictions = 76}), 4u * 1765);
}

TEST(UnpackedBinary, IsReadAsItIs) {
  const std::filesystem::path path = testing::TempDir() + "unpacked_binary_test";
  std::string bytes;
  for (int i = 0; i < 3; ++i) bytes += encode_record(kSample, kLayout);
  platform::write_file_atomically(path, bytes);
  const RecordDataset dataset(std::vector{path}, {.shape = kShape});
  ASSERT_EQ(dataset.size(), 3);
  const Sample read = dataset.sample(2, 0);
  EXPECT_EQ(read.input_ids, kSample.input_ids);
  EXPECT_EQ(read.token_type_ids, kSample.token_type_ids);
  EXPECT_EQ(read.masked_positions, kSample.masked_positions);
  EXPECT_EQ(read.masked_labels, kSample.masked_labels);
  EXPECT_EQ(read.next_sentence_label, kSample.next_sentence_label);
}

// Any word changed: refused, or still a sample that fits the shape.
TEST(UnpackedBinary, BadWordsAreRefusedOrFit) {
  const std::string good = encode_unpacked_binary(kSample, kLayout);
  for (size_t word = 0; word < good.size() / 4; ++word) {
    for (const uint32_t value : {0u, 1u, 5u, 99u, 100u, 0xffffffffu}) {
      std::string bytes = good;
      std::memcpy(bytes.data() + 4 * word, &value, 4);
      const auto read = read_unpacked_binary(std::as_bytes(std::span(bytes)), kShape);
      if (!read) {
        EXPECT_FALSE(read.error().message.empty());
        continue;
      }
      for (const int32_t id : read->front().input_ids) EXPECT_LT(id, 100);
      for (const int32_t label : read->front().masked_labels) EXPECT_LT(label, 100);
    }
  }
}

}  // namespace
}  // namespace cloze::data
