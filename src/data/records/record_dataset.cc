#include "data/records/record_dataset.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "platform/parallel_for.h"

namespace cloze::data {
namespace {

constexpr int64_t kRecordsPerTask = 1024;

}  // namespace

RecordDataset::RecordDataset(std::span<const std::filesystem::path> files,
                             const RecordDatasetOptions& options) {
  open(files, options);
  const bool has_packs = std::any_of(files_.begin(), files_.end(),
                                     [](const auto& file) { return file->holds_packs(); });
  if (!options.skip_bad) check_first_records();
  if (has_packs || options.skip_bad) count_samples(options);
  if (size() == 0) {
    throw_user_error("no record in {} file(s), of which the first is {}", files.size(),
                     files.empty() ? "missing" : files.front().string());
  }
}

void RecordDataset::open(std::span<const std::filesystem::path> files,
                         const RecordDatasetOptions& options) {
  files_.resize(files.size());
  platform::parallel_for(std::ssize(files), options.threads,
                         [&](int64_t i) { files_[i] = open_record_file(files[i], options.shape); });
  int64_t records = 0;
  for (const auto& file : files_) {
    if (!file->is_random_access()) {
      throw_user_error(
          "{} is read in order only, and training reads in random order; make a TFRecord file of "
          "it with cloze data convert",
          file->path().string());
    }
    if (file->broken_end()) {
      if (!options.skip_bad) throw_data_error("{}", file->broken_end()->text());
      skipped_.push_back(*file->broken_end());
    }
    file_ends_.push_back(records += file->records());
  }
}

void RecordDataset::check_first_records() const {
  for (const auto& file : files_) {
    if (file->records() > 0) file->read_or_throw(0);
  }
}

void RecordDataset::count_samples(const RecordDatasetOptions& options) {
  const int64_t records = file_ends_.empty() ? 0 : file_ends_.back();
  sample_ends_.assign(static_cast<size_t>(records), 0);
  std::mutex mutex;
  std::vector<std::pair<int64_t, RecordDefect>> bad;
  const int64_t tasks = (records + kRecordsPerTask - 1) / kRecordsPerTask;
  platform::parallel_for(tasks, options.threads, [&](int64_t task) {
    const int64_t end = std::min(records, (task + 1) * kRecordsPerTask);
    for (int64_t record = task * kRecordsPerTask; record < end; ++record) {
      const auto [file, number] = place_of(record);
      const auto samples = file.read(number);
      if (samples) {
        sample_ends_[record] = std::ssize(*samples);
        continue;
      }
      const std::lock_guard lock(mutex);
      bad.emplace_back(record, file.defect_of(number, samples.error().message));
    }
  });
  std::sort(bad.begin(), bad.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (!bad.empty() && !options.skip_bad) throw_data_error("{}", bad.front().second.text());
  for (auto& [record, defect] : bad) skipped_.push_back(std::move(defect));
  std::partial_sum(sample_ends_.begin(), sample_ends_.end(), sample_ends_.begin());
}

int64_t RecordDataset::size() const {
  if (!sample_ends_.empty()) return sample_ends_.back();
  return file_ends_.empty() ? 0 : file_ends_.back();
}

std::pair<const RecordFile&, int64_t> RecordDataset::place_of(int64_t record) const {
  const auto end = std::upper_bound(file_ends_.begin(), file_ends_.end(), record);
  const RecordFile& file = *files_[end - file_ends_.begin()];
  return {file, record - (*end - file.records())};
}

Sample RecordDataset::sample(int64_t index, int64_t /*epoch*/) const {
  CLOZE_CHECK(index >= 0 && index < size(), "sample {} of {}", index, size());
  int64_t record = index;
  int64_t first = index;
  if (!sample_ends_.empty()) {
    const auto end = std::upper_bound(sample_ends_.begin(), sample_ends_.end(), index);
    record = end - sample_ends_.begin();
    first = end == sample_ends_.begin() ? 0 : *(end - 1);
  }
  const auto [file, number] = place_of(record);
  std::vector<Sample> samples = file.read_or_throw(number);
  CLOZE_CHECK(index - first < std::ssize(samples), "sample {} of a record of {}", index - first,
              samples.size());
  return std::move(samples[index - first]);
}

}  // namespace cloze::data
