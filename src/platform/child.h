// Child processes: work in a fork of this one, and programs that it starts and watches over.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "platform/descriptor.h"

namespace cloze::platform {

// Returns what `work` returns, computed in a fork of this process, for libraries that do not
// survive damaged input: whatever happens there, this process goes on. The error says what it
// threw, or how the child ended: by a signal, or because it took longer than `seconds`.
Result<std::string> bytes_from_child(const std::function<std::string()>& work, int seconds);

// A program in a process group of its own, so that a Ctrl-C at the terminal reaches this program
// only. It reads nothing, and is asked to end (SIGTERM) when this program is killed.
class ChildProgram {
 public:
  // kWatched: standard output is this program's; what goes to standard error is read from here.
  // kQuiet: both are dropped.
  enum class Output { kWatched, kQuiet };

  // words.front() is a path. EnvironmentError when the system has no process for it. If the path is
  // not a program, it ends with exit code 127.
  ChildProgram(const std::vector<std::string>& words, Output output);
  // Kills it if it still runs.
  ~ChildProgram();
  ChildProgram(const ChildProgram&) = delete;
  ChildProgram& operator=(const ChildProgram&) = delete;

  // Its exit code, or 128 + the signal that ended it; nothing while it runs.
  std::optional<int> exit_code();
  // Returns what it has written to standard error since; waits up to `patience` for some. Empty:
  // nothing, or the end.
  std::string read_errors(std::chrono::milliseconds patience);
  void ask_to_stop();  // SIGUSR1
  void ask_to_end();   // SIGTERM
  void kill();         // it and its process group, at once

 private:
  int process_ = -1;
  Descriptor errors_;
  std::optional<int> exit_code_;
};

// The path of a program by the folders of PATH; nothing when none has it.
std::optional<std::string> find_program(const std::string& name);
std::string path_of_this_program();

}  // namespace cloze::platform
