// PackedDataset: the sequences of packed records (packed_record.h), each a sample of its own, in
// the order of files, packs and sequences. Opening reads every pack once, to count its sequences.
//
// Errors: DataError that names file and offset; UserError when there is no pack.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "data/record_reader.h"
#include "platform/file.h"

namespace cloze::data {

class PackedDataset final : public Dataset {
 public:
  // `threads` read when it opens. Files that are no TFRecord files are read as binary ones.
  PackedDataset(std::span<const std::filesystem::path> files, const RecordShape& shape,
                int threads);

  int64_t size() const override { return pack_ends_.back(); }
  Sample sample(int64_t index, int64_t epoch) const override;

 private:
  struct File {
    std::filesystem::path path;
    platform::MappedFile bytes;
    bool is_binary = false;
    std::vector<uint64_t> offsets;  // of each pack
  };
  void index_file(File& file) const;
  std::vector<Sample> read(const File& file, size_t pack) const;
  std::vector<Sample> read(int64_t pack) const;  // counted through all files

  RecordShape shape_;
  std::vector<File> files_;
  std::vector<int64_t> file_ends_;  // number of packs up to and with each file
  std::vector<int64_t> pack_ends_;  // number of samples up to and with each pack
};

// The data set that the first record asks for: RecordDataset or PackedDataset.
std::unique_ptr<Dataset> open_records(std::span<const std::filesystem::path> files,
                                      const RecordShape& shape, int threads);

}  // namespace cloze::data
