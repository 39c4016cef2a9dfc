#include "platform/descriptor.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"

namespace cloze::platform {

namespace fs = std::filesystem;

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  const int reason = errno;
  close();
  errno = reason;
}

bool Descriptor::close() { return !is_open() || ::close(std::exchange(number_, -1)) == 0; }

bool Descriptor::lock() const {
  return ::flock(number_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

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

Descriptor open_file(const fs::path& path, int flags, std::string_view action) {
  Descriptor file(::open(path.c_str(), flags | O_CLOEXEC, 0644));
  if (!file.is_open()) throw_system_error(action, path);
  return file;
}

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw_environment_error("cannot make a pipe: {}", std::strerror(errno));
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

bool write_all(const Descriptor& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = TEMP_FAILURE_RETRY(::write(file.number(), bytes.data(), bytes.size()));
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

void write_all(const Descriptor& file, std::string_view bytes, const fs::path& path) {
  if (!write_all(file, bytes)) throw_system_error("write", path);
}

void check_output_path(const fs::path& path) {
  if (path.empty()) throw_user_error("the path of an output file is empty; name one");
  std::error_code unknown;  // opening it will say what is wrong
  if (fs::exists(path, unknown) && !fs::is_regular_file(path, unknown)) {
    throw_user_error("{} is not a regular file; choose another path to write to", path.string());
  }
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace cloze::platform
