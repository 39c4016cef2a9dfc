#include "data/records/packed_record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/data_folder_test.h"
#include "base/error.h"
#include "base/philox.h"
#include "data/records/record_dataset.h"
#include "formats/tf_example.h"
#include "formats/tfrecord.h"
#include "platform/files/atomic_file.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

constexpr RecordShape kShape{.sequence_length = 32, .max_predictions = 6, .vocabulary_size = 200};
constexpr size_t kSlots = 8;  // M + 2

Sample random_sample(PhiloxStream& random) {
  Sample sample{.next_sentence_label = static_cast<int32_t>(random.below(2))};
  const auto length = static_cast<int32_t>(5 + random.below(5));
  for (int32_t i = 0; i < length; ++i) {
    sample.input_ids.push_back(static_cast<int32_t>(1 + random.below(199)));
    sample.token_type_ids.push_back(i > length / 2 ? 1 : 0);
    if (i == 2 || i == 4) {
      sample.masked_positions.push_back(i);
      sample.masked_labels.push_back(static_cast<int32_t>(random.below(200)));
    }
  }
  return sample;
}

std::string packed(const std::vector<Sample>& samples) { return encode_pack(samples, kShape); }

void expect_same(const Sample& a, const Sample& b) {
  EXPECT_EQ(a.input_ids, b.input_ids);
  EXPECT_EQ(a.token_type_ids, b.token_type_ids);
  EXPECT_EQ(a.masked_positions, b.masked_positions);
  EXPECT_EQ(a.masked_labels, b.masked_labels);
  EXPECT_EQ(a.next_sentence_label, b.next_sentence_label);
}

fs::path stored(const std::string& name, const std::string& bytes) {
  const fs::path path = testing::TempDir() + name;
  platform::write_file_atomically(path, bytes);
  return path;
}

TEST(PackedRecord, BinaryPacksComeApartAgain) {
  PhiloxStream random(1, 0);
  std::vector<Sample> samples;
  std::string bytes;
  for (int count : {1, 3, 2, 3}) {
    std::vector<Sample> pack;
    for (int i = 0; i < count; ++i) pack.push_back(random_sample(random));
    bytes += packed(pack);
    samples.insert(samples.end(), pack.begin(), pack.end());
  }
  const size_t half = bytes.size() / 2;
  const std::vector files{stored("packed_record_test_1", bytes.substr(0, half)),
                          stored("packed_record_test_empty", ""),
                          stored("packed_record_test_2", bytes.substr(half))};
  const RecordDataset dataset(files, {.shape = kShape, .threads = 2});
  ASSERT_EQ(dataset.size(), std::ssize(samples));
  for (int64_t i = 0; i < dataset.size(); ++i) expect_same(dataset.sample(i, 0), samples[i]);
}

std::string refusal(const std::string& bytes) {
  try {
    RecordDataset(std::vector{stored("packed_record_test_bad", bytes)}, {.shape = kShape});
  } catch (const UserError& error) {
    const std::string message = error.what();
    return message.substr(message.find("packed_record_test_bad") + 22);
  }
  return "no refusal";
}

// Slots of a second sequence: they share none with the first, positions run from 0 without gaps,
// and there are at most three sequences.
TEST(PackedRecord, SequencesThatOverlapLeaveGapsOrAreTooManyAreRefused) {
  PhiloxStream random(4, 0);
  const std::vector<Sample> samples{random_sample(random), random_sample(random)};
  const std::string good = packed(samples);
  const size_t S = kShape.sequence_length;
  const auto word = [&](size_t index) {
    uint32_t value;
    std::memcpy(&value, good.data() + 4 * index, 4);
    return value;
  };
  const auto refused = [&](size_t index, uint32_t value) {
    std::string bytes = good;
    std::memcpy(bytes.data() + 4 * index, &value, 4);
    return refusal(bytes);
  };
  size_t slot = kSlots;
  while (word(S + slot) != 2) ++slot;
  const uint32_t position = word(3 * S + slot);
  EXPECT_EQ(
      refused(3 * S + slot, position + 1),
      fmt::format(", record at byte 0: packed_position_ids of sequence 2 holds {} where {} is "
                  "expected",
                  position + 1, position))
      << "overlap";
  EXPECT_EQ(
      refused(S + slot, 0).find(", record at byte 0: packed_position_ids of sequence 2 holds"), 0u)
      << "gap";
  EXPECT_EQ(
      refused(S + slot, 3).find(", record at byte 0: packed_position_ids of sequence 2 holds"), 0u)
      << "a token of another";
  EXPECT_EQ(refused(S + slot, 4),
            ", record at byte 0: packed_input_mask holds 4; it must be in [0, 4)");
}

using Integers = std::vector<int32_t>;
using Floats = std::vector<float>;

// A pack of one sequence of four tokens, whose first stands last.
formats::TfExample example_of_pack(const Integers& mask) {
  formats::TfExample example;
  example.add_integers("packed_input_ids", Integers{2, 3, 4, 1});
  example.add_integers("packed_input_mask", mask);
  example.add_integers("packed_segment_ids", Integers{0, 0, 0, 0});
  example.add_integers("packed_position_ids", Integers{1, 2, 3, 0});
  example.add_integers("packed_masked_lm_positions", Integers{0, 0, 0});
  example.add_integers("packed_masked_lm_ids", Integers{9, 0, 0});
  example.add_floats("packed_masked_lm_mask", Floats{1, 0, 0});
  example.add_integers("packed_next_sentence_labels", Integers{0, 0, 1});
  example.add_floats("packed_next_sentence_mask", Floats{0, 0, 1});
  return example;
}

// The integers of a TFRecord have signs.
TEST(PackedRecord, NoEntryOfTheMaskIsBelowZero) {
  EXPECT_TRUE(read_packed_record(example_of_pack({1, 1, 1, 1}), {}));
  for (size_t slot = 0; slot < 4; ++slot) {
    Integers mask{1, 1, 1, 1};
    mask[slot] = -100'000'000;
    const auto samples = read_packed_record(example_of_pack(mask), {});
    ASSERT_FALSE(samples) << slot;
    EXPECT_EQ(samples.error().message, "packed_input_mask holds -100000000; it must be in [0, 4)");
  }
}

TEST(PackedRecord, ADamagedFirstRecordCostsNoOther) {
  const std::string payload = example_of_pack({1, 1, 1, 1}).serialize();
  const std::string record = formats::tfrecord_bytes(std::as_bytes(std::span(payload)));
  std::string bytes = record + record + record;
  bytes[20] ^= 1;
  const std::vector files{stored("packed_record_test_damaged", bytes)};
  const RecordDataset dataset(files, {.threads = 1, .skip_bad = true});
  EXPECT_EQ(dataset.size(), 2);
  EXPECT_EQ(dataset.skipped().size(), 1u);
}

TEST(PackedRecord, BadPacksAreNamed) {
  PhiloxStream random(2, 0);
  const std::string good = packed({random_sample(random), random_sample(random)});
  const auto with_word = [&](size_t index, uint32_t word) {
    std::string bytes = good;
    std::memcpy(bytes.data() + 4 * index, &word, 4);
    return bytes;
  };
  const size_t S = kShape.sequence_length;
  EXPECT_EQ(refusal(good), "no refusal");
  EXPECT_EQ(refusal(good.substr(4)),
            " is neither a TFRecord file nor a binary one: its 596 bytes are a multiple neither of "
            "the 600 of a packed record nor of the 460 of an unpacked one, for seq_length 32 and "
            "max_predictions_per_seq 6");
  EXPECT_EQ(
      refusal("A mill stands on the river.\n"),
      " is text and no file of records; cloze pretrain and cloze data read text with input_file");
  EXPECT_EQ(refusal(good + with_word(0, 200)),
            ", record at byte 600: packed_input_ids holds 200; it must be in [0, 200)");
  EXPECT_EQ(refusal(with_word(S, 4)),
            ", record at byte 0: packed_input_mask holds 4; it must be in [0, 4)");
  constexpr size_t kMasked = 4;  // slots, and then those of the other tokens
  EXPECT_EQ(refusal(with_word(3 * S + kMasked, 30)),
            ", record at byte 0: packed_position_ids of sequence 1 holds 2 where 1 is expected");
  EXPECT_EQ(refusal(with_word(4 * S + 2 * kSlots + 1, 0)), "no refusal") << "a label may be 0";
  EXPECT_EQ(refusal(with_word(4 * S + 2 * kSlots + 3 + 2, 0)),
            ", record at byte 0: 2 sequences, but 1 labels in packed_next_sentence_labels");
}

// Any word changed: refused, or still three samples at most that fit the shape.
TEST(PackedRecord, RandomWordsAreRefusedOrFit) {
  PhiloxStream random(3, 0);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = packed({random_sample(random), random_sample(random)});
    const uint32_t word = random.below(300);
    std::memcpy(bytes.data() + 4 * random.below(static_cast<uint32_t>(bytes.size() / 4)), &word, 4);
    const auto samples = read_packed_binary(std::as_bytes(std::span(bytes)), kShape);
    if (!samples) continue;
    EXPECT_LE(samples->size(), 3u);
    for (const Sample& sample : *samples) {
      for (const int32_t id : sample.input_ids) EXPECT_LT(id, 200);
      EXPECT_EQ(sample.masked_positions.size(), sample.masked_labels.size());
    }
  }
}

// Graphcore's own files: 44 packs hold the 45 records that were made of the same text.
TEST(PackedRecord, GraphcoresPacksHoldTheirRecords) {
  const DataFolder data({"golden/tfrecord"});
  if (!data.missing().empty()) GTEST_SKIP() << data.missing();
  const fs::path folder = data / "golden/tfrecord";
  const RecordShape shape{.sequence_length = 128, .max_predictions = 20, .vocabulary_size = 30522};
  const RecordDataset packs(std::vector{folder / "graphcore_sample_text_packed.tfrecord"},
                            {.shape = shape});
  const RecordDataset plain(std::vector{folder / "graphcore_sample_text.tfrecord"},
                            {.shape = shape});
  ASSERT_EQ(packs.size(), 45);
  ASSERT_EQ(plain.size(), 45);
  const auto sorted = [](const Dataset& dataset) {
    std::vector<Sample> samples;
    for (int64_t i = 0; i < dataset.size(); ++i) samples.push_back(dataset.sample(i, 0));
    std::sort(samples.begin(), samples.end(),
              [](const Sample& a, const Sample& b) { return a.input_ids < b.input_ids; });
    return samples;
  };
  const auto a = sorted(packs), b = sorted(plain);
  for (size_t i = 0; i < a.size(); ++i) expect_same(a[i], b[i]);
}

}  // namespace
}  // namespace cloze::data
