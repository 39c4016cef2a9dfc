#include "platform/child.h"

#include <fcntl.h>
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

namespace cloze::platform {
namespace {

constexpr char kValue = 'v';
constexpr char kError = 'e';

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(1);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

[[noreturn]] void run_child(const std::function<std::string()>& work, int seconds, int descriptor) {
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) {
    ::signal(number, SIG_DFL);
  }
  ::alarm(static_cast<unsigned>(seconds));
  try {
    const std::string value = work();
    write_all(descriptor, {&kValue, 1});
    write_all(descriptor, value);
  } catch (const std::exception& error) {
    write_all(descriptor, {&kError, 1});
    write_all(descriptor, error.what());
  }
  ::_exit(0);
}

std::string read_all(int descriptor) {
  std::string bytes;
  std::array<char, 1 << 16> buffer;
  while (true) {
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return bytes;
    bytes.append(buffer.data(), static_cast<size_t>(got));
  }
}

int status_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

Result<std::string> bytes_from_child(const std::function<std::string()>& work, int seconds) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw_environment_error("cannot make a pipe: {}", std::strerror(errno));
  }
  const pid_t child = ::fork();
  if (child == 0) run_child(work, seconds, ends[1]);
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    throw_environment_error("cannot start a process: {}", std::strerror(errno));
  }
  std::string bytes = read_all(ends[0]);
  ::close(ends[0]);
  const int status = status_of(child);
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
