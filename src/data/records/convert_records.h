// Converts record files of any form (record_file.h) to TFRecord, plain or re-masked. Packs come
// apart: each sequence becomes a record. The order is that of the files. A sequence that has no
// room for the slots of the re-masked layout is shortened (record_encoder.h). The samples of a data set,
// such as those drawn from a token store, become records likewise: an epoch of them, in order.
//
// Errors: DataError for a record that cannot be used, unless skip_bad; UserError when nothing is
// left. The output appears only when all of it is complete.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "data/dataset.h"
#include "data/records/record_encoder.h"
#include "data/records/record_file.h"
#include "platform/files/atomic_file.h"

namespace cloze::data {

// The files, TFRecord or binary, that records are written to, filled in turn. They are opened
// before any work is done, so that a folder that cannot be written to is seen at once, and appear
// when commit() is called.
class RecordSink {
 public:
  explicit RecordSink(std::span<const std::filesystem::path> files, bool is_binary = false);
  void append(std::string_view record);
  void commit();

 private:
  std::vector<std::unique_ptr<platform::AtomicFile>> files_;
  bool is_binary_;
  size_t next_ = 0;
};

struct ConvertOptions {
  std::vector<std::filesystem::path> files;
  RecordShape shape;
  std::vector<std::filesystem::path> output_files;
  RecordLayout layout;  // its sizes at least those of the samples
  int threads = 1;
  bool skip_bad = false;
};

struct ConvertCounts {
  int64_t records = 0;
  int64_t samples = 0;
  int64_t without_pair = 0;  // of a data set, left out: records have a label for the pair
  int64_t shortened = 0;     // samples that gave tokens to make room for slots
  int64_t tokens_taken = 0;  // from them
  std::vector<RecordDefect> skipped;
};

struct ConvertProgress {
  std::atomic<int64_t> bytes{0};  // of the files read, or samples
  std::atomic<int64_t> total_bytes{0};
};

ConvertCounts convert_records(const ConvertOptions& options, ConvertProgress& progress);
// `files` and `shape` are not looked at; `progress` counts samples.
ConvertCounts convert_dataset(const Dataset& dataset, const ConvertOptions& options,
                              ConvertProgress& progress);

}  // namespace cloze::data
