// The program: its subcommands, and what becomes of their errors. Each subcommand is a file of this
// folder, with a function add_NAME(CLI::App&) that registers its options and a callback.
#pragma once

namespace cloze::cli {

// Runs the subcommand that the arguments name; returns the exit status (cli/exit_code.h). An option
// may be written with underscores. A callback that ends well with another status than 0 throws
// CLI::RuntimeError(status).
int run_program(int argc, const char* const* argv);

}  // namespace cloze::cli
