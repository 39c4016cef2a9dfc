// Graphcore's packed records in their binary form: packs of one size one after another.
#pragma once

#include "data/records/packed_record.h"
#include "data/records/record_file.h"
#include "platform/file.h"

namespace cloze::data {

class PackedBinaryFile final : public RecordFile {
 public:
  // The file's size is a multiple of packed_binary_bytes(shape).
  PackedBinaryFile(std::filesystem::path path, platform::MappedFile file, const RecordShape& shape)
      : RecordFile(std::move(path)),
        file_(std::move(file)),
        shape_(shape),
        pack_bytes_(packed_binary_bytes(shape)) {}

  int64_t bytes() const override { return std::ssize(file_.bytes()); }
  int64_t records() const override { return bytes() / static_cast<int64_t>(pack_bytes_); }
  std::string place_of(int64_t record) const override {
    return fmt::format("record at byte {}", offset_of(record));
  }
  Result<std::vector<Sample>> read(int64_t record) const override {
    return read_packed_binary(file_.bytes().subspan(offset_of(record), pack_bytes_), shape_);
  }
  bool holds_packs() const override { return true; }

 private:
  uint64_t offset_of(int64_t record) const { return static_cast<uint64_t>(record) * pack_bytes_; }

  platform::MappedFile file_;
  RecordShape shape_;
  uint64_t pack_bytes_;
};

}  // namespace cloze::data
