#include "platform/descriptor.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
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

bool is_about_a_path(int code) {
  return code == ENOENT || code == ENOTDIR || code == EISDIR || code == EACCES || code == ELOOP ||
         code == ENAMETOOLONG;
}

void throw_system_error(std::string_view action, const fs::path& path) {
  const int code = errno;
  const std::string reason = std::strerror(code);
  if (code == ENOSPC || code == EDQUOT) {
    throw_environment_error("cannot {} {}: {}; free some space and run again", action,
                            path.string(), reason);
  }
  if (is_about_a_path(code)) {
    throw_user_error("cannot {} {}: {}; check the path", action, path.string(), reason);
  }
  throw_environment_error("cannot {} {}: {}", action, path.string(), reason);
}

Descriptor open_file(const fs::path& path, int flags, std::string_view action) {
  Descriptor file(::open(path.c_str(), flags | O_CLOEXEC, 0644));
  if (!file.is_open()) throw_system_error(action, path);
  return file;
}

bool is_file_at(const Descriptor& file, const fs::path& path) {
  struct stat open_one, named;
  return ::fstat(file.number(), &open_one) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open_one.st_ino == named.st_ino && open_one.st_dev == named.st_dev;
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

}  // namespace cloze::platform
