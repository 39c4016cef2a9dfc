#include "data/records/tfrecord_file.h"

#include <fmt/format.h>

#include <utility>

#include "data/records/packed_record.h"
#include "formats/tf_example.h"
#include "formats/tfrecord.h"

namespace cloze::data {

TfRecordFile::TfRecordFile(std::filesystem::path path, platform::MappedFile file,
                           const RecordShape& shape)
    : RecordFile(std::move(path)), file_(std::move(file)), shape_(shape) {
  formats::TfRecordIndex index = formats::index_tfrecords(file_.bytes());
  offsets_ = std::move(index.offsets);
  if (index.broken_end) {
    broken_end_ =
        RecordDefect{this->path(), fmt::format("record at byte {}", index.broken_end->offset),
                     index.broken_end->message + "; what follows cannot be read"};
  }
  holds_packs_ = first_is_packed();
}

bool TfRecordFile::first_is_packed() const {
  if (offsets_.empty()) return false;
  const auto payload = formats::tfrecord_payload(file_.bytes(), offsets_.front());
  if (!payload) return false;
  const auto example = formats::TfExample::parse(*payload);
  return example && is_packed(*example);
}

std::string TfRecordFile::place_of(int64_t record) const {
  return fmt::format("record at byte {}", offsets_[record]);
}

Result<std::vector<Sample>> TfRecordFile::read(int64_t record) const {
  const auto payload = formats::tfrecord_payload(file_.bytes(), offsets_[record]);
  if (!payload) return payload.error();
  const auto example = formats::TfExample::parse(*payload);
  if (!example) return example.error();
  if (is_packed(*example) != holds_packs_) {
    return ParseError{holds_packs_ ? "is not a pack, but the first record of the file is"
                                   : "is a pack, but the first record of the file is not"};
  }
  if (holds_packs_) return read_packed_record(*example, shape_);
  Result<Sample> sample = read_record(*example, shape_);
  if (!sample) return sample.error();
  return std::vector<Sample>{std::move(sample).value()};
}

}  // namespace cloze::data
