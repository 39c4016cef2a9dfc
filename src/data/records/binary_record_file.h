// Records without a header, all of one size, one after another: Graphcore's packs and the unpacked
// records that they are made of.
#pragma once

#include "data/records/record_file.h"
#include "platform/file.h"

namespace cloze::data {

struct BinaryForm {
  uint64_t record_bytes = 0;
  Result<std::vector<Sample>> (*read)(std::span<const std::byte> record,
                                      const RecordShape& shape) = nullptr;
  bool holds_packs = false;
};

class BinaryRecordFile final : public RecordFile {
 public:
  // The file's size is a multiple of the form's.
  BinaryRecordFile(std::filesystem::path path, platform::MappedFile file, const RecordShape& shape,
                   const BinaryForm& form)
      : RecordFile(std::move(path)), file_(std::move(file)), shape_(shape), form_(form) {}

  int64_t bytes() const override { return std::ssize(file_.bytes()); }
  int64_t records() const override { return bytes() / static_cast<int64_t>(form_.record_bytes); }
  std::string place_of(int64_t record) const override {
    return fmt::format("record at byte {}", offset_of(record));
  }
  Result<std::vector<Sample>> read(int64_t record) const override {
    return form_.read(file_.bytes().subspan(offset_of(record), form_.record_bytes), shape_);
  }
  bool holds_packs() const override { return form_.holds_packs; }

 private:
  uint64_t offset_of(int64_t record) const {
    return static_cast<uint64_t>(record) * form_.record_bytes;
  }

  platform::MappedFile file_;
  RecordShape shape_;
  BinaryForm form_;
};

}  // namespace cloze::data
