#include "data/output_files.h"

#include <set>
#include <system_error>

#include "base/error.h"

namespace cloze::data {

namespace fs = std::filesystem;

void check_output_files(std::span<const fs::path> files) {
  if (files.empty()) throw_user_error("--output-file names no file");
  std::set<fs::path> seen;
  for (const fs::path& file : files) {
    std::error_code unknown;  // opening it will say what is wrong
    const fs::path whole = fs::weakly_canonical(fs::absolute(file), unknown);
    if (seen.insert(unknown ? file : whole).second) continue;
    throw_user_error("--output-file names {} twice; name each file once", file.string());
  }
}

}  // namespace cloze::data
