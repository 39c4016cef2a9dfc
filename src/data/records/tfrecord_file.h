// Records in a TFRecord file: plain, re-masked or packed. Opening reads the records' frames only
// and keeps 8 bytes a record.
#pragma once

#include "data/records/record_file.h"
#include "platform/file.h"

namespace cloze::data {

class TfRecordFile final : public RecordFile {
 public:
  TfRecordFile(std::filesystem::path path, platform::MappedFile file, const RecordShape& shape);

  int64_t bytes() const override { return std::ssize(file_.bytes()); }
  int64_t records() const override { return std::ssize(offsets_); }
  std::string place_of(int64_t record) const override;
  Result<std::vector<Sample>> read(int64_t record) const override;
  bool holds_packs() const override { return holds_packs_; }

 private:
  bool first_is_packed() const;

  platform::MappedFile file_;
  RecordShape shape_;
  std::vector<uint64_t> offsets_;
  bool holds_packs_ = false;
};

}  // namespace cloze::data
