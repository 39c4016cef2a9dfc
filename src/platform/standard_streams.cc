#include "platform/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace cloze::platform {

std::FILE* redirect_output(const std::filesystem::path& path) {
  static std::FILE* const original = fdopen(dup(STDERR_FILENO), "w");
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) throw_environment_error("open {}: {}", path.string(), std::strerror(errno));
  std::fflush(stdout);
  std::fflush(stderr);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  close(file);
  return original;
}

}  // namespace cloze::platform
