#include "platform/descriptor.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"

namespace cloze::platform {

namespace fs = std::filesystem;

void throw_system_error(std::string_view action, const fs::path& path) {
  const int code = errno;
  const std::string reason = std::strerror(code);
  if (code == ENOSPC || code == EDQUOT) {
    throw_environment_error("cannot {} {}: {}; free some space and run again", action,
                            path.string(), reason);
  }
  if (code == ENOENT || code == ENOTDIR || code == EISDIR || code == EACCES) {
    throw_user_error("cannot {} {}: {}; check the path", action, path.string(), reason);
  }
  throw_environment_error("cannot {} {}: {}", action, path.string(), reason);
}

void write_all(int descriptor, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_system_error("write", path);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void check_output_path(const fs::path& path) {
  if (path.empty()) throw_user_error("the path of an output file is empty; name one");
  if (fs::exists(path) && !fs::is_regular_file(path)) {
    throw_user_error("{} is not a regular file; choose another path to write to", path.string());
  }
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace cloze::platform
