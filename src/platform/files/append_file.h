// A file that only grows; every append is written through to the system at once.
// Errors: UserError or EnvironmentError that names the path and what the system said.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "platform/descriptor.h"

namespace cloze::platform {

class AppendFile {
 public:
  // keep_bytes: the file is cut to this length first (resuming a log); negative keeps all.
  explicit AppendFile(const std::filesystem::path& path, int64_t keep_bytes = -1);
  void append(std::string_view text);

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace cloze::platform
