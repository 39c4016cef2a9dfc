#include "data/records/record_dataset.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "data/part_place.h"
#include "formats/xxh3.h"
#include "platform/files/file.h"
#include "platform/files/temporary_file.h"
#include "platform/parallel_for.h"

namespace cloze::data {
namespace {

// The place of a record in the file, and its numbers of tokens and predictions.
struct Place {
  uint64_t offset = 0;
  int32_t tokens = 0;
  int32_t predictions = 0;

  size_t values() const {
    return static_cast<size_t>(tokens) + 2 * static_cast<size_t>(predictions) + 1;
  }
};

std::vector<int32_t> values_of(const Sample& sample) {
  std::vector<int32_t> values;
  for (size_t i = 0; i < sample.input_ids.size(); ++i) {
    values.push_back(sample.input_ids[i] * 2 + sample.token_type_ids[i]);
  }
  values.insert(values.end(), sample.masked_positions.begin(), sample.masked_positions.end());
  values.insert(values.end(), sample.masked_labels.begin(), sample.masked_labels.end());
  values.push_back(sample.next_sentence_label);
  return values;
}

Sample sample_of(std::span<const int32_t> values, const Place& place) {
  Sample sample;
  for (const int32_t value : values.first(place.tokens)) {
    sample.input_ids.push_back(value / 2);
    sample.token_type_ids.push_back(value % 2);
  }
  const auto positions = values.subspan(place.tokens, place.predictions);
  const auto labels = values.subspan(place.tokens + place.predictions, place.predictions);
  sample.masked_positions.assign(positions.begin(), positions.end());
  sample.masked_labels.assign(labels.begin(), labels.end());
  sample.next_sentence_label = values.back();
  return sample;
}

// The records of a file that can be read in order only (HDF5), for reading in random order: all are
// decoded once, in order, into a temporary file. It takes 8 bytes per prediction, 4 per token and
// 20 per record, in the folder that TMPDIR names (/tmp), and is removed with this object.
//
//   file      := for each record  token, number of tokens times  (id * 2 + token type)
//                                 position, number of predictions times | label, as often
//                                 next-sentence label                          all int32
class UnpackedRecordFile final : public RecordFile {
 public:
  explicit UnpackedRecordFile(std::unique_ptr<RecordFile> source)
      : RecordFile(source->path()), source_(std::move(source)) {
    CLOZE_CHECK(!source_->holds_packs(), "{} holds packs", path().string());
    broken_end_ = source_->broken_end();
    for (int64_t record = 0; record < source_->records(); ++record) unpack(record);
  }

  int64_t bytes() const override { return source_->bytes(); }
  int64_t records() const override { return source_->records(); }
  std::string place_of(int64_t record) const override { return source_->place_of(record); }
  bool holds_packs() const override { return false; }

  Result<std::vector<Sample>> read(int64_t record) const override {
    if (const auto error = errors_.find(record); error != errors_.end()) return error->second;
    const Place& place = places_[record];
    std::vector<int32_t> values(place.values());
    const std::string bytes = unpacked_.read(place.offset, values.size() * sizeof(int32_t));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return std::vector<Sample>{sample_of(values, place)};
  }

 private:
  void unpack(int64_t record) {
    Result<std::vector<Sample>> samples = source_->read(record);
    Place& place = places_.emplace_back(Place{.offset = unpacked_.bytes()});
    if (!samples) {
      errors_.emplace(record, samples.error());
      return;
    }
    const Sample& sample = samples->front();
    place.tokens = static_cast<int32_t>(sample.input_ids.size());
    place.predictions = static_cast<int32_t>(sample.masked_positions.size());
    const std::vector<int32_t> values = values_of(sample);
    unpacked_.append(
        {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int32_t)});
  }

  std::unique_ptr<RecordFile> source_;
  platform::TemporaryFile unpacked_;
  std::vector<Place> places_;
  std::map<int64_t, ParseError> errors_;  // of records that cannot be used
};

}  // namespace

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
    if (!files_[i]->is_random_access()) {
      files_[i] = std::make_unique<UnpackedRecordFile>(std::move(files_[i]));
    }
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
  std::call_once(has_digest_, [&] { digest_ = digest_of_files(); });
  return fmt::format("{} records {}", size(), digest_);
}

std::string RecordDataset::digest_of_files() const {
  std::vector<std::string> digests(files_.size());
  platform::parallel_for(std::ssize(files_), threads_, [&](int64_t i) {
    const platform::MappedFile file(files_[i]->path());
    formats::Xxh3Digest digest;
    digest.update(file.text());
    digests[i] = digest.hex();
  });
  formats::Xxh3Digest all;
  for (const std::string& digest : digests) all.update(digest);
  return all.hex();
}

}  // namespace cloze::data
