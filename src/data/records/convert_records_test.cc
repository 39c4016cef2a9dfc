#include "data/records/convert_records.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/philox.h"
#include "data/records/record_dataset.h"
#include "formats/hdf5_absent_test.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

constexpr RecordShape kShape{.sequence_length = 16, .max_predictions = 4, .vocabulary_size = 300};
constexpr RecordLayout kLayout{.sequence_length = 16, .max_predictions = 4};

class ConvertRecordsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / "cloze_convert_records_test";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    PhiloxStream random(1, 0);
    RecordSink sink(std::vector{folder_ / "plain"});
    for (int i = 0; i < 50; ++i) {
      Sample sample{.next_sentence_label = i % 2};
      for (uint32_t t = 0; t < 6 + random.below(8); ++t) {
        sample.input_ids.push_back(static_cast<int32_t>(1 + random.below(299)));
        sample.token_type_ids.push_back(t > 3 ? 1 : 0);
      }
      sample.masked_positions = {1, 3};
      sample.masked_labels = {i, 7};
      sink.append(encode_record(sample, kLayout));
    }
    sink.commit();
  }
  void TearDown() override { fs::remove_all(folder_); }

  ConvertCounts convert(const std::string& from, const std::string& to, bool remask,
                        bool skip_bad = false) {
    RecordLayout layout = kLayout;
    layout.remask = remask;
    ConvertProgress progress;
    return convert_records({.files = {folder_ / from},
                            .shape = kShape,
                            .output_files = {folder_ / to},
                            .layout = layout,
                            .threads = 2,
                            .skip_bad = skip_bad},
                           progress);
  }

  fs::path folder_;
};

TEST_F(ConvertRecordsTest, ThereAndBackIsTheSameFile) {
  EXPECT_EQ(convert("plain", "remasked", true).samples, 50);
  EXPECT_NE(platform::read_file(folder_ / "remasked"), platform::read_file(folder_ / "plain"));
  EXPECT_EQ(convert("remasked", "back", false).samples, 50);
  EXPECT_EQ(platform::read_file(folder_ / "back"), platform::read_file(folder_ / "plain"));
}

// As Google's script makes them: full, and with fewer predictions than there are slots.
TEST_F(ConvertRecordsTest, FullSequencesAreShortenedForTheSlots) {
  const auto length = static_cast<size_t>(kLayout.sequence_length);
  RecordSink sink(std::vector{folder_ / "full"});
  Sample full{.input_ids = std::vector<int32_t>(length, 9),
              .token_type_ids = std::vector<int32_t>(length, 0),
              .masked_positions = {1},
              .masked_labels = {5}};
  std::fill(full.token_type_ids.begin() + 6, full.token_type_ids.end(), 1);
  sink.append(encode_record(full, kLayout));
  sink.commit();
  const ConvertCounts counts = convert("full", "remasked", true);
  EXPECT_EQ(counts.samples, 1);
  EXPECT_EQ(counts.shortened, 1);
  EXPECT_EQ(counts.tokens_taken, kLayout.max_predictions - 1);
  const RecordDataset dataset(std::vector{folder_ / "remasked"}, {.shape = kShape});
  EXPECT_EQ(std::ssize(dataset.sample(0, 0).input_ids),
            kLayout.sequence_length - counts.tokens_taken);
  EXPECT_EQ(dataset.sample(0, 0).masked_labels, full.masked_labels);
}

// Every other sample has one part only, as a document of one token gives.
class HalfOfThemPairs : public Dataset {
 public:
  int64_t size() const override { return 10; }
  Sample sample(int64_t index, int64_t) const override {
    return {.input_ids = {2, 5, 3},
            .token_type_ids = {0, 0, 0},
            .next_sentence_label = index % 2 == 0 ? -1 : 1};
  }
  std::string fingerprint() const override { return ""; }
};

class FirstOfThem final : public HalfOfThemPairs {
  int64_t size() const override { return 1; }
};

TEST_F(ConvertRecordsTest, SamplesOfOnePartAreLeftOut) {
  ConvertProgress progress;
  const ConvertCounts counts = convert_dataset(
      HalfOfThemPairs(), {.output_files = {folder_ / "pairs"}, .layout = kLayout, .threads = 2},
      progress);
  EXPECT_EQ(counts.samples, 5);
  EXPECT_EQ(counts.without_pair, 5);
  const RecordDataset read(std::vector{folder_ / "pairs"}, {.shape = kShape, .threads = 1});
  ASSERT_EQ(read.size(), 5);
  EXPECT_EQ(read.sample(4, 0).next_sentence_label, 1);
  try {
    convert_dataset(FirstOfThem(), {.output_files = {folder_ / "none"}, .layout = kLayout},
                    progress);
    FAIL() << "they were written";
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()),
              "none of the 1 samples has the second part that records have a label for");
  }
}

TEST_F(ConvertRecordsTest, AFileIsNamedOnce) {
  EXPECT_THROW(RecordSink(std::vector{folder_ / "a", folder_ / "." / "a"}), UserError);
  EXPECT_THROW(RecordSink(std::vector{folder_ / std::string(300, 'a')}), UserError);
}

TEST_F(ConvertRecordsTest, Hdf5ShardsBecomeTrainable) {
  const fs::path shard = fs::path(CLOZE_SOURCE_DIR) / "tests/fixtures/records/shard.hdf5";
  fs::copy_file(shard, folder_ / "shard");
  try {
    EXPECT_EQ(convert("shard", "made", false, true).samples, 1) << "ids of 500 are over 300";
    const RecordDataset dataset(std::vector{folder_ / "made"}, {.shape = kShape});
    EXPECT_EQ(dataset.sample(0, 0).input_ids.size(), 6u);
  } catch (const UserError& error) {
    if (!formats::says_hdf5_is_absent(error)) throw;
    GTEST_SKIP() << error.what();
  }
}

TEST_F(ConvertRecordsTest, BadRecordsAreRefusedOrLeftOut) {
  std::string bytes = platform::read_file(folder_ / "plain");
  bytes[bytes.size() / 2] ^= 1;
  platform::write_file_atomically(folder_ / "bad", bytes);
  EXPECT_THROW(convert("bad", "made", false), DataError);
  EXPECT_FALSE(fs::exists(folder_ / "made"));
  const ConvertCounts counts = convert("bad", "made", false, true);
  EXPECT_GE(counts.samples, 25);
  EXPECT_EQ(counts.skipped.size(), 1u);
}

}  // namespace
}  // namespace cloze::data
