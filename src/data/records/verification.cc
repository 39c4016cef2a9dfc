#include "data/records/verification.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "platform/parallel_for.h"

namespace cloze::data {
namespace {

constexpr int64_t kRecordsPerTask = 4096;

class FileVerifier {
 public:
  explicit FileVerifier(const RecordFile& file) : file_(file) {}

  void verify(int threads, Verification& result) {
    const int64_t count = file_.records();
    platform::parallel_for((count + kRecordsPerTask - 1) / kRecordsPerTask, threads,
                           [&](int64_t task) {
                             const int64_t begin = task * kRecordsPerTask;
                             verify_range(begin, std::min(count, begin + kRecordsPerTask));
                           });
    std::sort(bad_.begin(), bad_.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    result.records += good_;
    result.samples += samples_;
    result.bytes += file_.bytes();
    for (auto& [record, defect] : bad_) result.bad.push_back(std::move(defect));
    if (file_.broken_end()) {
      result.bad.push_back(*file_.broken_end());
    } else if (count == 0) {
      result.bad.push_back({file_.path(), "byte 0", "the file holds no record"});
    }
  }

 private:
  void verify_range(int64_t begin, int64_t end) {
    int64_t good = 0, samples = 0;
    for (int64_t record = begin; record < end; ++record) {
      const auto read = file_.read(record);
      if (read) {
        ++good;
        samples += std::ssize(*read);
        continue;
      }
      const std::lock_guard lock(mutex_);
      bad_.emplace_back(record, file_.defect_of(record, read.error().message));
    }
    const std::lock_guard lock(mutex_);
    good_ += good;
    samples_ += samples;
  }

  const RecordFile& file_;
  std::mutex mutex_;
  int64_t good_ = 0;
  int64_t samples_ = 0;
  std::vector<std::pair<int64_t, RecordDefect>> bad_;
};

}  // namespace

Verification verify_records(std::span<const std::filesystem::path> files, const RecordShape& shape,
                            int threads, const std::function<void(int64_t)>& progress) {
  Verification result;
  for (const std::filesystem::path& path : files) {
    ++result.files;
    try {
      FileVerifier(*open_record_file(path, shape)).verify(threads, result);
    } catch (const DataError& error) {
      result.bad.push_back({path, "byte 0", error.what()});
    }
    progress(result.bytes);
  }
  return result;
}

}  // namespace cloze::data
