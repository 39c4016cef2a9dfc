#include "platform/child.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <string_view>

#include "base/error.h"
#include "platform/descriptor.h"

namespace cloze::platform {
namespace {

constexpr char kValue = 'v';
constexpr char kError = 'e';

void report(const Descriptor& parent, char kind, std::string_view text) {
  if (!write_all(parent, {&kind, 1}) || !write_all(parent, text)) ::_exit(1);
}

[[noreturn]] void run_child(const std::function<std::string()>& work, int seconds,
                            const Descriptor& parent) {
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) {
    ::signal(number, SIG_DFL);
  }
  ::alarm(static_cast<unsigned>(seconds));
  try {
    report(parent, kValue, work());
  } catch (const std::exception& error) {
    report(parent, kError, error.what());
  }
  ::_exit(0);
}

std::string read_all(const Descriptor& file) {
  std::string bytes;
  std::array<char, 1 << 16> buffer;
  while (true) {
    const ssize_t got = TEMP_FAILURE_RETRY(::read(file.number(), buffer.data(), buffer.size()));
    if (got <= 0) return bytes;
    bytes.append(buffer.data(), static_cast<size_t>(got));
  }
}

}  // namespace

Result<std::string> bytes_from_child(const std::function<std::string()>& work, int seconds) {
  Pipe pipe = make_pipe();
  const pid_t child = ::fork();
  if (child == 0) run_child(work, seconds, pipe.writing);
  if (child < 0) throw_environment_error("cannot start a process: {}", std::strerror(errno));
  pipe.writing.close();
  std::string bytes = read_all(pipe.reading);
  int status = 0;
  TEMP_FAILURE_RETRY(::waitpid(child, &status, 0));
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    if (number == SIGALRM) return ParseError{fmt::format("took longer than {} s", seconds)};
    return ParseError{fmt::format("ended by signal {} ({})", number, ::strsignal(number))};
  }
  if (WEXITSTATUS(status) != 0 || bytes.empty()) {
    return ParseError{fmt::format("ended with status {}", WEXITSTATUS(status))};
  }
  const bool is_value = bytes.front() == kValue;
  bytes.erase(0, 1);
  if (!is_value) return ParseError{std::move(bytes)};
  return bytes;
}

}  // namespace cloze::platform
