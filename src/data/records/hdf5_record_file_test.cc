#include "data/records/hdf5_record_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "data/records/record_dataset.h"
#include "formats/hdf5_absent_test.h"
#include "platform/files/file.h"
#include "platform/files/partial_file.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

// scripts/make_hdf5_fixture says what is in it.
const fs::path kShard = fs::path(CLOZE_SOURCE_DIR) / "tests/fixtures/records/shard.hdf5";
constexpr RecordShape kShape{.sequence_length = 16, .max_predictions = 4, .vocabulary_size = 1000};

// Nothing when the program was built without HDF5.
std::unique_ptr<RecordFile> open_shard(const RecordShape& shape = kShape) {
  try {
    return open_record_file(kShard, shape);
  } catch (const UserError& error) {
    EXPECT_TRUE(formats::says_hdf5_is_absent(error)) << error.what();
    return nullptr;
  }
}

TEST(Hdf5RecordFileTest, RowsAreRecords) {
  const auto file = open_shard();
  if (file == nullptr) GTEST_SKIP() << "built without HDF5";
  ASSERT_EQ(file->records(), 5);
  for (const int64_t r : {4, 0, 1, 2, 3}) {
    const std::vector<Sample> samples = file->read_or_throw(r);
    ASSERT_EQ(samples.size(), 1u);
    const Sample& sample = samples[0];
    ASSERT_EQ(std::ssize(sample.input_ids), 6 + r);
    for (int64_t i = 0; i < 6 + r; ++i) {
      EXPECT_EQ(sample.input_ids[i], 100 + 10 * r + i);
      EXPECT_EQ(sample.token_type_ids[i], i < 4 ? 0 : 1);
    }
    ASSERT_EQ(std::ssize(sample.masked_positions), r);
    for (int64_t m = 0; m < r; ++m) {
      EXPECT_EQ(sample.masked_positions[m], m + 1);
      EXPECT_EQ(sample.masked_labels[m], 501 + m);
    }
    EXPECT_EQ(sample.next_sentence_label, r % 2);
  }
}

TEST(Hdf5RecordFileTest, AnotherShapeIsRefusedWithBothValues) {
  const auto file = open_shard({.sequence_length = 128});
  if (file == nullptr) GTEST_SKIP() << "built without HDF5";
  const auto samples = file->read(2);
  ASSERT_FALSE(samples);
  EXPECT_EQ(
      file->defect_of(2, samples.error().message).text(),
      kShard.string() + ", row 2: input_ids has 16 entries, the configuration's seq_length is 128");
}

TEST(Hdf5RecordFileTest, ADatasetReadsRowsInRandomOrder) {
  const auto file = open_shard();
  if (file == nullptr) GTEST_SKIP() << "built without HDF5";
  const RecordDataset dataset(std::vector{kShard, kShard}, {.shape = kShape});
  ASSERT_EQ(dataset.size(), 10);
  for (const int64_t i : {9, 0, 4, 7, 1, 8, 2, 3, 6, 5}) {
    const Sample expected = file->read_or_throw(i % 5)[0];
    const Sample sample = dataset.sample(i, 0);
    EXPECT_EQ(sample.input_ids, expected.input_ids);
    EXPECT_EQ(sample.token_type_ids, expected.token_type_ids);
    EXPECT_EQ(sample.masked_positions, expected.masked_positions);
    EXPECT_EQ(sample.masked_labels, expected.masked_labels);
    EXPECT_EQ(sample.next_sentence_label, expected.next_sentence_label);
  }
}

TEST(Hdf5RecordFileTest, ADatasetNamesOrSkipsTheRowThatDoesNotFit) {
  if (open_shard() == nullptr) GTEST_SKIP() << "built without HDF5";
  RecordShape small = kShape;
  small.vocabulary_size = 145;  // the last row's ids go up to 149
  const RecordDataset good(std::vector{kShard}, {.shape = small, .skip_bad = true});
  EXPECT_LT(good.size(), 5);
  ASSERT_FALSE(good.skipped().empty());
  EXPECT_EQ(good.skipped()[0].file, kShard);
  EXPECT_TRUE(good.skipped()[0].place.starts_with("row "));
}

TEST(Hdf5RecordFileTest, AFileThatAnotherProgramHasLockedIsRead) {
  if (open_shard() == nullptr) GTEST_SKIP() << "built without HDF5";
  platform::PartialFile locked(fs::path(testing::TempDir()) / "cloze_hdf5_record_file_locked");
  locked.keep(0);
  locked.append(platform::read_file(kShard));
  locked.sync();
  EXPECT_EQ(open_record_file(locked.partial_path(), kShape)->read_or_throw(1).size(), 1u);
  locked.remove();
}

}  // namespace
}  // namespace cloze::data
