// Verification: every record of TFRecord files read and checked, its checksums and what it holds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "data/record_reader.h"

namespace cloze::data {

struct BadRecord {
  std::filesystem::path file;
  uint64_t offset = 0;
  std::string message;
};

struct Verification {
  int64_t files = 0;
  int64_t records = 0;  // good ones
  int64_t bytes = 0;
  std::vector<BadRecord> bad;  // in the order of the files
};

// A record whose length cannot be believed ends its file: where the next one begins is not known.
// A file without a record counts as bad. Runs on `threads` threads; the result does not depend on
// it.
Verification verify_records(std::span<const std::filesystem::path> files, const RecordShape& shape,
                            int threads);

}  // namespace cloze::data
