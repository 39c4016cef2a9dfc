#include "data/records/record_dataset.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "data/part_place.h"
#include "data/records/unpacked_record_file.h"
#include "formats/xxh3.h"
#include "platform/file.h"
#include "platform/parallel_for.h"

namespace cloze::data {

RecordDataset::RecordDataset(std::span<const std::filesystem::path> files,
                             const RecordDatasetOptions& options)
    : threads_(options.threads) {
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
  platform::parallel_for(std::ssize(files), options.threads, [&](int64_t i) {
    files_[i] = open_record_file(files[i], options.shape);
    if (!files_[i]->is_random_access()) files_[i] = unpack_record_file(std::move(files_[i]));
  });
  int64_t records = 0;
  for (const auto& file : files_) {
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
  for (const auto& file : files_) {
    RecordSurvey survey = survey_records(*file, options.threads);
    if (!survey.defects.empty() && !options.skip_bad) {
      throw_data_error("{}", survey.defects.front().text());
    }
    sample_ends_.insert(sample_ends_.end(), survey.samples.begin(), survey.samples.end());
    std::move(survey.defects.begin(), survey.defects.end(), std::back_inserter(skipped_));
  }
  std::partial_sum(sample_ends_.begin(), sample_ends_.end(), sample_ends_.begin());
}

int64_t RecordDataset::size() const {
  if (!sample_ends_.empty()) return sample_ends_.back();
  return file_ends_.empty() ? 0 : file_ends_.back();
}

Sample RecordDataset::sample(int64_t index, int64_t /*epoch*/) const {
  CLOZE_CHECK(index >= 0 && index < size(), "sample {} of {}", index, size());
  const PartPlace in_record =
      sample_ends_.empty() ? PartPlace{.part = index} : part_place(sample_ends_, index);
  const PartPlace in_file = part_place(file_ends_, in_record.part);
  std::vector<Sample> samples = files_[in_file.part]->read_or_throw(in_file.index);
  CLOZE_CHECK(in_record.index < std::ssize(samples), "sample {} of a record of {}", in_record.index,
              samples.size());
  return std::move(samples[in_record.index]);
}

std::string RecordDataset::fingerprint() const {
  std::vector<std::string> digests(files_.size());
  platform::parallel_for(std::ssize(files_), threads_, [&](int64_t i) {
    const platform::MappedFile file(files_[i]->path());
    formats::Xxh3Digest digest;
    digest.update(file.text());
    digests[i] = digest.hex();
  });
  formats::Xxh3Digest all;
  for (const std::string& digest : digests) all.update(digest);
  return fmt::format("{} records {}", size(), all.hex());
}

}  // namespace cloze::data
