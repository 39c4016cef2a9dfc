// Verification: everything that training data consists of is read and checked: every record of
// record files, its checksums and what it holds; every block of a token store.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "data/records/record_file.h"

namespace cloze::data {

struct Verification {
  int64_t files = 0;
  int64_t records = 0;  // good ones
  int64_t bytes = 0;
  std::vector<RecordDefect> bad;  // in the order of the files
};

// A file ends at the first record whose frame is damaged, because where the next one begins is not
// known. A file without a record counts as bad. Runs on `threads` threads; the result does not
// depend on it. `progress` is told the bytes read so far.
Verification verify_records(std::span<const std::filesystem::path> files, const RecordShape& shape,
                            int threads, const std::function<void(int64_t)>& progress);

// Checks every block of a token store, and that its shards belong together. Counts documents as
// records; defects are of shards. UserError or DataError when the store cannot be opened.
Verification verify_token_store(const std::filesystem::path& folder, int threads,
                                const std::function<void(int64_t)>& progress);

}  // namespace cloze::data
