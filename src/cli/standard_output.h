// Standard output, where results go that have no file of their own.
#pragma once

namespace cloze::cli {

// Writes what is still buffered. EnvironmentError when that, or a write before it, failed: results
// that nobody got are not a success.
void flush_standard_output();

}  // namespace cloze::cli
