#include "platform/files/output_path.h"

#include <system_error>

#include "base/error.h"

namespace cloze::platform {

namespace fs = std::filesystem;

void check_output_path(const fs::path& path) {
  if (path.empty()) throw_user_error("the path of an output file is empty; name one");
  std::error_code unknown;  // opening it will say what is wrong
  if (fs::exists(path, unknown) && !fs::is_regular_file(path, unknown)) {
    throw_user_error("{} is not a regular file; choose another path to write to", path.string());
  }
}

}  // namespace cloze::platform
