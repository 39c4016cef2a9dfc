#include "platform/made_folder.h"

#include "platform/file.h"

namespace cloze::platform {

namespace fs = std::filesystem;

MadeFolder::MadeFolder(const fs::path& path) {
  fs::path missing = fs::absolute(path).lexically_normal();
  if (!missing.has_filename()) missing = missing.parent_path();
  std::error_code error;
  for (; !fs::exists(missing, error) && missing.has_relative_path();
       missing = missing.parent_path()) {
    made_.push_back(missing);
  }
  make_writable_directory(path);
}

MadeFolder::~MadeFolder() {
  std::error_code error;
  for (const fs::path& folder : made_) {
    if (!fs::remove(folder, error)) return;  // it holds something, or another took it away
  }
}

}  // namespace cloze::platform
