// The same work in several processes at once.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <vector>

namespace cloze::platform {

// Runs `work` in three processes. Each must end it without an exception, or with _exit(0).
template <class Work>
void run_in_three_processes(const Work& work) {
  std::vector<pid_t> processes;
  for (int i = 0; i < 3; ++i) {
    processes.push_back(::fork());
    if (processes.back() != 0) continue;
    try {
      work();
      ::_exit(0);
    } catch (const std::exception&) {
      ::_exit(2);
    }
  }
  for (const pid_t process : processes) {
    int status = -1;
    ::waitpid(process, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

}  // namespace cloze::platform
