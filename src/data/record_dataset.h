// RecordDataset: the pre-training records of many TFRecord files, mapped into memory. Opening
// reads the records' headers only and keeps 8 bytes a record; samples are decoded when asked for.
//
// Errors: UserError when no file holds a record; DataError that names file and offset for corrupt
// or truncated files and for records that do not fit `shape`. The first record of every file is
// decoded on opening, so that a wrong configuration is seen before training starts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "data/record_reader.h"
#include "platform/file.h"

namespace cloze::data {

class RecordDataset final : public Dataset {
 public:
  RecordDataset(std::span<const std::filesystem::path> files, const RecordShape& shape);

  int64_t size() const override { return file_ends_.back(); }
  Sample sample(int64_t index, int64_t epoch) const override;

 private:
  struct File {
    std::filesystem::path path;
    platform::MappedFile bytes;
    std::vector<uint64_t> offsets;  // of each record
  };
  Sample read(const File& file, size_t record) const;

  RecordShape shape_;
  std::vector<File> files_;
  std::vector<int64_t> file_ends_;  // number of records up to and with each file
};

}  // namespace cloze::data
