// Converts record files of any form (record_file.h) to TFRecord, plain or re-masked. Packs come
// apart: each sequence becomes a record. The order is that of the files.
//
// Errors: DataError for a record that cannot be used, unless skip_bad; UserError when nothing is
// left. The output appears only when all of it is complete.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "data/records/record_encoder.h"
#include "data/records/record_file.h"

namespace cloze::data {

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
  std::vector<RecordDefect> skipped;
};

struct ConvertProgress {
  std::atomic<int64_t> bytes{0};  // of the files read
  std::atomic<int64_t> total_bytes{0};
};

ConvertCounts convert_records(const ConvertOptions& options, ConvertProgress& progress);

}  // namespace cloze::data
