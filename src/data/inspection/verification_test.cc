#include "data/inspection/verification.h"

#include <gtest/gtest.h>

#include <string>

#include "base/philox.h"
#include "data/records/record_encoder.h"
#include "formats/tfrecord.h"
#include "platform/files/atomic_file.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

constexpr int kRecords = 9;

std::string record(int32_t id) {
  const Sample sample{.input_ids = {101, id, 102},
                      .token_type_ids = {0, 0, 0},
                      .masked_positions = {1},
                      .masked_labels = {7}};
  const std::string payload = encode_record(sample, {.sequence_length = 8, .max_predictions = 2});
  return formats::tfrecord_bytes(std::as_bytes(std::span(payload)));
}

std::string records() {
  std::string bytes;
  for (int32_t id = 0; id < kRecords; ++id) bytes += record(id);
  return bytes;
}

Verification verify(const std::string& bytes, int threads = 1) {
  const fs::path path = testing::TempDir() + "verification_test.tfrecord";
  platform::write_file_atomically(path, bytes);
  return verify_records(std::vector{path}, {.vocabulary_size = 1000}, threads, [](int64_t) {});
}

TEST(Verification, GoodFilesAreGood) {
  const Verification result = verify(records(), 3);
  EXPECT_EQ(result.files, 1);
  EXPECT_EQ(result.records, kRecords);
  EXPECT_TRUE(result.bad.empty());
}

TEST(Verification, ABadRecordIsNamedAndTheOthersCount) {
  std::string bytes = records();
  const size_t size = bytes.size() / kRecords;
  bytes[3 * size + 40] ^= 1;
  const Verification result = verify(bytes);
  EXPECT_EQ(result.records, kRecords - 1);
  ASSERT_EQ(result.bad.size(), 1u);
  EXPECT_EQ(result.bad[0].place, "record at byte " + std::to_string(3 * size));
}

TEST(Verification, WhatARecordHoldsIsChecked) {
  const Verification result = verify(record(5) + record(1000) + record(6));
  EXPECT_EQ(result.records, 2);
  ASSERT_EQ(result.bad.size(), 1u);
  EXPECT_EQ(result.bad[0].message, "input_ids holds 1000; it must be in [0, 1000)");
}

TEST(Verification, AnEmptyFileIsBad) {
  const Verification result = verify("");
  ASSERT_EQ(result.bad.size(), 1u);
  EXPECT_EQ(result.bad[0].message, "the file holds no record");
}

TEST(Verification, ADefectNamesItsFileOnce) {
  const Verification result = verify(std::string("\x1F\x8B packed", 9));
  ASSERT_EQ(result.bad.size(), 1u);
  EXPECT_EQ(result.bad[0].message, "is compressed; unpack it first");
}

// Checksums cover every byte: no flipped bit and no cut goes unseen, but for a cut between records.
TEST(Verification, EveryFlipAndCutIsSeen) {
  const std::string good = records();
  const size_t size = good.size() / kRecords;
  PhiloxStream random(1, 0);
  for (int round = 0; round < 1000; ++round) {
    std::string flipped = good;
    const uint32_t place = random.below(static_cast<uint32_t>(good.size()));
    flipped[place] = static_cast<char>(flipped[place] ^ (1 << random.below(8)));
    EXPECT_FALSE(verify(flipped).bad.empty()) << place;

    const size_t length = 1 + random.below(static_cast<uint32_t>(good.size()) - 1);
    const Verification cut = verify(good.substr(0, length));
    EXPECT_EQ(cut.bad.empty(), length % size == 0) << length;
    EXPECT_EQ(cut.records, static_cast<int64_t>(length / size));
  }
}

}  // namespace
}  // namespace cloze::data
