// A command of the program, run in the test's own process.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "cli/console/exit_code.h"
#include "cli/program.h"

namespace cloze::cli {

struct CommandResult {
  ExitCode status;
  std::string out, error;  // what it printed
};

// How it ends, printing where the test prints. `words` follow the program's name.
inline ExitCode status_of(const std::vector<std::string>& words) {
  std::vector<const char*> pointers{"cloze"};
  for (const std::string& word : words) pointers.push_back(word.c_str());
  return static_cast<ExitCode>(run_program(static_cast<int>(pointers.size()), pointers.data()));
}

inline CommandResult run_command(const std::vector<std::string>& words) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const ExitCode status = status_of(words);
  std::fflush(stdout);
  return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

}  // namespace cloze::cli
