// For tests: work in a child process that gets a signal after so many saves of a journal.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <thread>

#include "platform/signals.h"

namespace cloze::platform {

inline constexpr int kInterruptedStatus = 75;

struct Interrupting {
  std::filesystem::path journal;
  int signal = SIGKILL;
  int saves = 1;
};

// Each save gives the journal another inode.
inline void raise_after_saves(const Interrupting& interrupting, const std::stop_token& stop) {
  const auto inode = [&] {
    struct stat status {};
    return ::stat(interrupting.journal.c_str(), &status) == 0 ? status.st_ino : 0;
  };
  ino_t last = inode();
  for (int saves = 0; saves < interrupting.saves && !stop.stop_requested();) {
    const ino_t now = inode();
    if (now != last && now != 0) ++saves;
    last = now;
  }
  if (!stop.stop_requested()) ::kill(::getpid(), interrupting.signal);
}

// 0: the work was done; 75: it threw Interruption; 1: another error; the signal, negative, if the
// process died of it.
inline int status_of_interrupted(const Interrupting& interrupting,
                                 const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    install_stop_signals();
    const std::jthread watcher(
        [&](const std::stop_token& stop) { raise_after_saves(interrupting, stop); });
    try {
      work();
      ::_exit(0);
    } catch (const Interruption&) {
      ::_exit(kInterruptedStatus);
    } catch (const std::exception&) {
      ::_exit(1);
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

// The same for work that makes `output` at its end; there is no output yet when it returns a status
// other than 0. On a busy machine the signal may come later than that; then the work starts over.
inline int status_of_interrupted_before(const std::filesystem::path& output,
                                        const Interrupting& interrupting,
                                        const std::function<void()>& work) {
  constexpr int kMostTries = 20;
  for (int tries = 0; tries < kMostTries; ++tries) {
    std::filesystem::remove(output);
    std::filesystem::remove(interrupting.journal);
    const int status = status_of_interrupted(interrupting, work);
    if (status != 0 && !std::filesystem::exists(output)) return status;
  }
  return 0;
}

// Does the work in processes ("lives") that SIGKILL and SIGTERM end in turn, after one to three
// saves, until one finishes it. On a busy machine signals come late: a life may end while it names
// its outputs, and the work starts over if it is finished after fewer than `fewest` interruptions.
// after_life() looks at what each life has left. Returns how many were interrupted.
inline int interruptions_until_done(Interrupting interrupting, int fewest,
                                    const std::function<void()>& work,
                                    const std::function<void()>& after_life) {
  constexpr int kMostLives = 100;
  int interruptions = 0;
  for (int lives = 0; lives < kMostLives; ++lives) {
    interrupting.signal = lives % 2 == 0 ? SIGKILL : SIGTERM;
    interrupting.saves = 1 + lives % 3;
    const int status = status_of_interrupted(interrupting, work);
    after_life();
    if (status == 0 && interruptions >= fewest) return interruptions;
    if (status == 0) continue;
    const bool is_interrupted =
        status == (interrupting.signal == SIGKILL ? -SIGKILL : kInterruptedStatus);
    EXPECT_TRUE(is_interrupted) << status;
    if (!is_interrupted) return -1;
    ++interruptions;
  }
  return interruptions;
}

}  // namespace cloze::platform
