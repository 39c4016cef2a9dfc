#include "data/records/unpacked_record_file.h"

#include <cstring>
#include <map>
#include <utility>

#include "base/error.h"
#include "platform/temporary_file.h"

namespace cloze::data {
namespace {

// Where a record lies, and how much of each it has.
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

std::unique_ptr<RecordFile> unpack_record_file(std::unique_ptr<RecordFile> source) {
  return std::make_unique<UnpackedRecordFile>(std::move(source));
}

}  // namespace cloze::data
