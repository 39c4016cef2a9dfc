#include "data/verification.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "formats/tfrecord.h"
#include "platform/file.h"
#include "platform/parallel_for.h"

namespace cloze::data {
namespace {

constexpr int64_t kRecordsPerTask = 4096;

class FileVerifier {
 public:
  FileVerifier(const std::filesystem::path& path, const RecordShape& shape)
      : path_(path), shape_(shape), file_(path) {}

  void verify(int threads, Verification& result) {
    index();
    const auto count = std::ssize(offsets_);
    platform::parallel_for((count + kRecordsPerTask - 1) / kRecordsPerTask, threads,
                           [&](int64_t task) {
                             const int64_t begin = task * kRecordsPerTask;
                             verify_range(begin, std::min(count, begin + kRecordsPerTask));
                           });
    std::sort(bad_.begin(), bad_.end(),
              [](const BadRecord& a, const BadRecord& b) { return a.offset < b.offset; });
    ++result.files;
    result.records += good_;
    result.bytes += static_cast<int64_t>(file_.bytes().size());
    std::move(bad_.begin(), bad_.end(), std::back_inserter(result.bad));
  }

 private:
  void index() {
    uint64_t offset = 0;
    while (offset < file_.bytes().size()) {
      const auto frame = formats::tfrecord_frame(file_.bytes(), offset);
      if (!frame) {
        add(frame.error().offset, frame.error().message + "; what follows cannot be read");
        return;
      }
      offsets_.push_back(offset);
      offset = frame->end_offset;
    }
    if (offsets_.empty()) add(0, "the file holds no record");
  }

  void verify_range(int64_t begin, int64_t end) {
    int64_t good = 0;
    for (int64_t i = begin; i < end; ++i) good += is_good(offsets_[i]) ? 1 : 0;
    const std::lock_guard lock(mutex_);
    good_ += good;
  }

  bool is_good(uint64_t offset) {
    const auto payload = formats::tfrecord_payload(file_.bytes(), offset);
    if (!payload) {
      add(offset, payload.error().message);
      return false;
    }
    const auto sample = read_record(*payload, shape_);
    if (!sample) add(offset, sample.error().message);
    return static_cast<bool>(sample);
  }

  void add(uint64_t offset, std::string message) {
    const std::lock_guard lock(mutex_);
    bad_.push_back({path_, offset, std::move(message)});
  }

  const std::filesystem::path& path_;
  const RecordShape& shape_;
  platform::MappedFile file_;
  std::vector<uint64_t> offsets_;
  std::mutex mutex_;
  int64_t good_ = 0;
  std::vector<BadRecord> bad_;
};

}  // namespace

Verification verify_records(std::span<const std::filesystem::path> files, const RecordShape& shape,
                            int threads) {
  Verification result;
  for (const std::filesystem::path& path : files) FileVerifier(path, shape).verify(threads, result);
  return result;
}

}  // namespace cloze::data
