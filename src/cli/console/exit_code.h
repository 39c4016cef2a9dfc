// What the program's exit status says; schedulers and scripts act on it.
#pragma once

#include <exception>
#include <string>

namespace cloze::cli {

enum class ExitCode : int {
  kSuccess = 0,
  kFailure = 1,         // a broken promise inside cloze
  kUsage = 2,           // a bad flag, option, configuration or path
  kData = 3,            // bad bytes in a file that was named
  kEnvironment = 4,     // no memory, no space
  kDiverged = 5,        // training diverged: a number was not finite
  kMissedTarget = 6,    // training came to its end below the target it was given
  kSavedOnSignal = 75,  // asked to stop, state saved: give the command again, training with
                        // --restore-dir (EX_TEMPFAIL)
};

// Thrown by a command that has said all there is to say: ends the program with this status.
struct EarlyExit {
  ExitCode code;
};

ExitCode exit_code_of(const std::exception& error);
// What the program prints: the error's message, or our own words for errors of the standard library.
std::string message_of(const std::exception& error);

}  // namespace cloze::cli
