#include "platform/files/append_file.h"

#include <fcntl.h>
#include <unistd.h>

namespace cloze::platform {

AppendFile::AppendFile(const std::filesystem::path& path, int64_t keep_bytes)
    : path_(path), file_(open_file(path, O_WRONLY | O_CREAT | O_APPEND, "open")) {
  if (keep_bytes >= 0 && ::ftruncate(file_.number(), keep_bytes) != 0) {
    throw_system_error("truncate", path_);
  }
}

void AppendFile::append(std::string_view text) { write_all(file_, text, path_); }

}  // namespace cloze::platform
