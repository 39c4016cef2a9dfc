#include "platform/standard_streams.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "platform/descriptor.h"

namespace cloze::platform {

std::FILE* redirect_output(const std::filesystem::path& path) {
  static std::FILE* const original = fdopen(dup(STDERR_FILENO), "w");
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file.is_open()) {
    throw_environment_error("open {}: {}", path.string(), std::strerror(errno));
  }
  std::fflush(stdout);
  std::fflush(stderr);
  dup2(file.number(), STDOUT_FILENO);
  dup2(file.number(), STDERR_FILENO);
  return original;
}

bool is_interactive_terminal() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

int terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace cloze::platform
