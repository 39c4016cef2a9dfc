#include "platform/child_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <utility>

#include "base/error.h"

namespace cloze::platform {
namespace {

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
