// Signals that ask the program to stop: SIGTERM, SIGINT and SIGUSR1 set a flag that long work polls
// between steps. Schedulers send several, and a launcher passes on the Ctrl-C that the terminal sent
// to all: only a SIGINT half a second or more after the first ends the process at once.
#pragma once

#include <stdexcept>

namespace cloze::platform {

// Work that a signal asked to stop; what was done is kept, and the same command goes on with it.
class Interruption : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Ignores the signal: from then on exceeding a file-size limit (ulimit -f) makes write fail and
// does not kill the process.
void ignore_file_size_signal();
// Long work also outlives the reader of its messages: on a closed pipe, write just fails.
void install_stop_signals();
bool stop_requested();
// Interruption once a signal has asked to stop.
void stop_if_requested();
int stop_signal();  // the signal received, 0 while there is none

}  // namespace cloze::platform
