#include "data/records/record_file.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <thread>

#include "base/error.h"
#include "platform/files/atomic_file.h"
#include "platform/files/own_folder_test.h"

namespace cloze::data {
namespace {

using RecordFileTest = platform::OwnFolderTest;

// Keeps the threads that read it.
class WatchedFile final : public RecordFile {
 public:
  explicit WatchedFile(bool is_random_access)
      : RecordFile("watched"), is_random_access_(is_random_access) {}

  int64_t bytes() const override { return records(); }
  int64_t records() const override { return 5000; }
  std::string place_of(int64_t) const override { return "somewhere"; }
  bool holds_packs() const override { return false; }
  bool is_random_access() const override { return is_random_access_; }
  Result<std::vector<Sample>> read(int64_t) const override {
    std::this_thread::yield();  // to those that have not begun
    const std::lock_guard lock(mutex_);
    threads_.insert(std::this_thread::get_id());
    return std::vector<Sample>(1);
  }
  const std::set<std::thread::id>& threads() const { return threads_; }

 private:
  bool is_random_access_;
  mutable std::mutex mutex_;
  mutable std::set<std::thread::id> threads_;
};

TEST_F(RecordFileTest, AFileThatIsSlowInRandomOrderIsSurveyedByOneThread) {
  const WatchedFile file(/*is_random_access=*/false);
  EXPECT_EQ(survey_records(file, 4).good_records(), file.records());
  EXPECT_EQ(file.threads(), std::set{std::this_thread::get_id()});
}

TEST_F(RecordFileTest, CompressedRecordsAreCalledSo) {
  const std::filesystem::path path = folder_ / "records.gz";
  for (const char* beginning : {"\x1F\x8B", "\x28\xB5\x2F\xFD"}) {
    platform::write_file_atomically(path, beginning + std::string(100, 'x'));
    for (const RecordShape& shape :
         {RecordShape(), RecordShape{.sequence_length = 8, .max_predictions = 2}}) {
      try {
        open_record_file(path, shape);
        FAIL();
      } catch (const DataError& error) {
        EXPECT_EQ(error.what(), path.string() + " is compressed; unpack it first");
      }
    }
  }
}

TEST_F(RecordFileTest, TextIsAskedWhetherItIsRecords) {
  const std::filesystem::path path = folder_ / "text.txt";
  platform::write_file_atomically(path, "The sea is blue. It is wide.\n");
  const auto file = open_record_file(path, {});
  EXPECT_EQ(file->records(), 0);
  ASSERT_TRUE(file->broken_end());
  EXPECT_EQ(file->broken_end()->text(),
            path.string() +
                ", record at byte 0: the checksum of a record's length is wrong; is this a "
                "TFRecord file? Binary records need seq_length and max_predictions_per_seq; text "
                "goes to cloze data records, or to cloze pretrain as input_file");
}

}  // namespace
}  // namespace cloze::data
