#include "platform/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/error.h"

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

constexpr int kNotStarted = 127;

[[noreturn]] void become(char* const* words, int output, int errors, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kNotStarted);
  for (const int number : {SIGTERM, SIGINT, SIGUSR1, SIGXFSZ}) ::signal(number, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, STDIN_FILENO);
  if (output < 0) output = nothing;
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors < 0 ? nothing : errors, STDERR_FILENO);
  ::execv(words[0], words);
  ::_exit(kNotStarted);
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

ChildProgram::ChildProgram(const std::vector<std::string>& words, Output output) {
  const bool is_watched = output == Output::kWatched;
  Pipe errors = is_watched ? make_pipe() : Pipe();
  std::vector<char*> texts;
  for (const std::string& word : words) texts.push_back(const_cast<char*>(word.c_str()));
  texts.push_back(nullptr);
  const pid_t parent = ::getpid();
  process_ = ::fork();
  if (process_ == 0) {
    become(texts.data(), is_watched ? STDOUT_FILENO : -1, errors.writing.number(), parent);
  }
  if (process_ < 0) {
    throw_environment_error("cannot start {}: {}", words.front(), std::strerror(errno));
  }
  errors_ = std::move(errors.reading);
}

ChildProgram::~ChildProgram() {
  if (!exit_code()) {
    kill();
    ::waitpid(process_, nullptr, 0);
  }
}

std::optional<int> ChildProgram::exit_code() {
  int status = 0;
  if (!exit_code_ && ::waitpid(process_, &status, WNOHANG) == process_) {
    exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  return exit_code_;
}

std::string ChildProgram::read_errors(std::chrono::milliseconds patience) {
  pollfd waiting{.fd = errors_.number(), .events = POLLIN, .revents = 0};
  if (::poll(&waiting, 1, static_cast<int>(patience.count())) <= 0) return "";
  std::array<char, 1 << 14> buffer;
  const ssize_t got = ::read(errors_.number(), buffer.data(), buffer.size());
  if (got > 0) return {buffer.data(), static_cast<size_t>(got)};
  if (got == 0) errors_.close();  // poll passes over a descriptor below 0: it waits
  return "";
}

void ChildProgram::ask_to_stop() { ::kill(process_, SIGUSR1); }

void ChildProgram::ask_to_end() { ::kill(process_, SIGTERM); }

void ChildProgram::kill() {
  ::kill(-process_, SIGKILL);
  ::kill(process_, SIGKILL);
}

std::optional<std::string> find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (std::filesystem::path(folder) / name).string();
    if (::access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file)) return file;
  }
  return std::nullopt;
}

std::string path_of_this_program() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

}  // namespace cloze::platform
