// Checks every block of a token store, and that its shards belong together.
#pragma once

#include <filesystem>
#include <functional>

#include "data/records/verification.h"

namespace cloze::data {

// Counts documents as records; defects are of shards. `progress` is told the bytes read so far.
// UserError or DataError when the store cannot be opened.
Verification verify_token_store(const std::filesystem::path& folder, int threads,
                                const std::function<void(int64_t)>& progress);

}  // namespace cloze::data
