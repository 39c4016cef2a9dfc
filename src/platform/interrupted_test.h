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

// The same for work that makes `output` at its end. On a busy machine the work may end before the
// signal comes; then it is started again.
inline int status_of_interrupted_before(const std::filesystem::path& output,
                                        const Interrupting& interrupting,
                                        const std::function<void()>& work) {
  constexpr int kMostTries = 20;
  int status = 0;
  for (int tries = 0; status == 0 && tries < kMostTries; ++tries) {
    std::filesystem::remove(output);
    status = status_of_interrupted(interrupting, work);
  }
  return status;
}

// Does the work in processes ("lives") that SIGKILL and SIGTERM end in turn, after one to three
// saves, until one finishes it. after_life(is_done) looks at what each has left. Returns how many
// there were.
inline int lives_until_done(Interrupting interrupting, const std::function<void()>& work,
                            const std::function<void(bool is_done)>& after_life) {
  for (int lives = 0;; ++lives) {
    interrupting.signal = lives % 2 == 0 ? SIGKILL : SIGTERM;
    interrupting.saves = 1 + lives % 3;
    const int status = status_of_interrupted(interrupting, work);
    after_life(status == 0);
    if (status == 0) return lives + 1;
    const bool is_interrupted =
        status == (interrupting.signal == SIGKILL ? -SIGKILL : kInterruptedStatus);
    EXPECT_TRUE(is_interrupted) << status;
    if (!is_interrupted) return -1;
  }
}

}  // namespace cloze::platform
