#include "data/records/record_dataset.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "data/records/record_encoder.h"
#include "formats/tfrecord.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

class RecordDatasetTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string("cloze_record_dataset_") +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Records whose second token tells which they are: first, first + 1, ...
  fs::path write(const std::string& name, int32_t first, int32_t count) {
    formats::TfRecordWriter writer(folder_ / name);
    for (int32_t id = first; id < first + count; ++id) {
      const Sample sample{.input_ids = {101, id, 102},
                          .token_type_ids = {0, 0, 0},
                          .masked_positions = {1},
                          .masked_labels = {7}};
      const std::string bytes = encode_record(sample, {.sequence_length = 8, .max_predictions = 2});
      writer.append(std::as_bytes(std::span(bytes.data(), bytes.size())));
    }
    writer.commit();
    return folder_ / name;
  }

  fs::path folder_;
};

template <typename Action>
std::string data_error_of(Action&& action) {
  try {
    action();
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(RecordDatasetTest, NumbersRunThroughAllFiles) {
  const std::vector<fs::path> files{write("a", 0, 3), write("b", 3, 0), write("c", 3, 4)};
  const RecordDataset dataset(files, {.shape = {.sequence_length = 8, .max_predictions = 2}});
  ASSERT_EQ(dataset.size(), 7);
  for (int64_t i = 0; i < 7; ++i) EXPECT_EQ(dataset.sample(i, 0).input_ids[1], i);
  EXPECT_THROW(dataset.sample(7, 0), InternalError);
}

// What a resumed run compares: other text in as many records is other data.
TEST_F(RecordDatasetTest, TheFingerprintIsThatOfTheContent) {
  const RecordDatasetOptions options{.shape = {.sequence_length = 8, .max_predictions = 2},
                                     .threads = 2};
  const auto fingerprint = [&](const std::vector<fs::path>& files) {
    return RecordDataset(files, options).fingerprint();
  };
  const fs::path a = write("a", 0, 3), b = write("b", 3, 2);
  const std::string expected = fingerprint({a, b});
  EXPECT_TRUE(expected.starts_with("5 records ")) << expected;
  fs::rename(a, folder_ / "elsewhere");
  EXPECT_EQ(fingerprint({folder_ / "elsewhere", b}), expected) << "names do not matter";
  EXPECT_NE(fingerprint({b, folder_ / "elsewhere"}), expected) << "the order does";
  EXPECT_NE(fingerprint({write("a", 4, 3), b}), expected) << "so does what is in them";
}

TEST_F(RecordDatasetTest, NoRecordsIsAUserError) {
  const std::vector<fs::path> files{write("empty", 0, 0)};
  EXPECT_THROW(RecordDataset(files, {}), UserError);
  EXPECT_THROW(RecordDataset(std::vector<fs::path>{}, {}), UserError);
}

TEST_F(RecordDatasetTest, AWrongShapeIsSeenOnOpening) {
  const std::vector<fs::path> files{write("a", 0, 2)};
  EXPECT_EQ(
      data_error_of([&] { RecordDataset(files, {.shape = {.sequence_length = 128}}); }),
      files[0].string() +
          ", record at byte 0: input_ids has 8 entries, the configuration's seq_length is 128");
}

TEST_F(RecordDatasetTest, DamageIsReportedWithFileAndOffset) {
  const fs::path path = write("a", 0, 3);
  std::string bytes = platform::read_file(path);
  const size_t record_bytes = bytes.size() / 3;
  platform::write_file_atomically(path, bytes.substr(0, bytes.size() - 1));
  const std::vector<fs::path> files{path};
  EXPECT_NE(data_error_of([&] { RecordDataset(files, {}); })
                .find(fmt::format("{}, record at byte {}: the file ends inside a record",
                                  path.string(), 2 * record_bytes)),
            std::string::npos);
  bytes[record_bytes + 40] ^= 4;
  platform::write_file_atomically(path, bytes);
  const RecordDataset dataset(files, {});
  EXPECT_NO_THROW(dataset.sample(0, 0));
  EXPECT_NE(data_error_of([&] {
              dataset.sample(1, 0);
            }).find(fmt::format("record at byte {}: the checksum", record_bytes)),
            std::string::npos);
}

TEST_F(RecordDatasetTest, BadRecordsAreLeftOutWhenAsked) {
  const fs::path path = write("a", 0, 5);
  std::string bytes = platform::read_file(path);
  const size_t record_bytes = bytes.size() / 5;
  bytes[record_bytes + 40] ^= 4;
  platform::write_file_atomically(path, bytes.substr(0, bytes.size() - 1));
  const RecordDataset dataset(std::vector<fs::path>{path}, {.threads = 2, .skip_bad = true});
  ASSERT_EQ(dataset.size(), 3);
  const int64_t left[] = {0, 2, 3};
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(dataset.sample(i, 0).input_ids[1], left[i]);
  ASSERT_EQ(dataset.skipped().size(), 2u);
  EXPECT_EQ(dataset.skipped()[0].place, fmt::format("record at byte {}", 4 * record_bytes));
  EXPECT_EQ(dataset.skipped()[1].place, fmt::format("record at byte {}", record_bytes));
}

}  // namespace
}  // namespace cloze::data
