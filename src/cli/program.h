// The program: its subcommands, and what becomes of their errors. Each subcommand is a file of this
// folder, with a function add_NAME(Subcommand) that adds it with its options and its action.
#pragma once

namespace cloze::cli {

// Runs the subcommand that the arguments name; returns the exit status (cli/console/exit_code.h). An option
// may be written with underscores. An action that succeeds with a status other than 0 throws
// EarlyExit.
int run_program(int argc, const char* const* argv);

// Writes what standard output still buffers. EnvironmentError when that, or a write before it,
// failed: results that were not delivered are not a success.
void flush_standard_output();

}  // namespace cloze::cli
