// RecordDataset: the samples of many record files (record_file.h), in the order of files, records
// and sequences of packs. Samples are decoded when asked for.
//
// The first record of every file is decoded on opening, so that a wrong configuration is seen
// before training starts. Files that can be read in order only are unpacked first,
// into temporary files. Packs are all read once, to count their sequences. With `skip_bad` all
// records are read once, and those that cannot be used are left out.
//
// Errors: UserError when no file holds a record; DataError that names file and place for damaged
// files and for records that do not fit `shape`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/records/record_file.h"

namespace cloze::data {

struct RecordDatasetOptions {
  RecordShape shape;
  int threads = 1;  // that read on opening
  bool skip_bad = false;
};

class RecordDataset final : public Dataset {
 public:
  RecordDataset(std::span<const std::filesystem::path> files, const RecordDatasetOptions& options);

  int64_t size() const override;
  Sample sample(int64_t index, int64_t epoch) const override;
  // Digest of the number of samples and the bytes of the files in their order, whatever they are
  // called. The first call reads them all, at the speed of the disk (XXH3 itself does gigabytes a
  // second).
  std::string fingerprint() const override;
  // The records that skip_bad left out.
  const std::vector<RecordDefect>& skipped() const { return skipped_; }

 private:
  void open(std::span<const std::filesystem::path> files, const RecordDatasetOptions& options);
  void check_first_records() const;
  void count_samples(const RecordDatasetOptions& options);
  std::string digest_of_files() const;

  int threads_;
  std::vector<std::unique_ptr<RecordFile>> files_;
  std::vector<int64_t> file_ends_;    // number of records up to and including each file
  std::vector<int64_t> sample_ends_;  // of samples, likewise by record; empty: one a record
  std::vector<RecordDefect> skipped_;
  mutable std::once_flag has_digest_;
  mutable std::string digest_;  // of the files
};

}  // namespace cloze::data
