#include "platform/signals.h"

#include <fmt/format.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace cloze::platform {
namespace {

std::atomic<int> received{0};
std::atomic<int64_t> interrupted_at{0};  // by SIGINT, in milliseconds of a steady clock; 0: never

// A terminal and a launcher may both pass on one Ctrl-C.
constexpr int64_t kOnePressMilliseconds = 500;

int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);  // may be called in a signal handler
  return time.tv_sec * 1000 + time.tv_nsec / 1'000'000;
}

void on_signal(int number) {
  received = number;
  if (number != SIGINT) return;
  int64_t first = 0;
  const int64_t at = now();
  const bool is_first = interrupted_at.compare_exchange_strong(first, at);
  if (!is_first && at - first >= kOnePressMilliseconds) _exit(128 + number);
}

}  // namespace

void ignore_file_size_signal() { signal(SIGXFSZ, SIG_IGN); }

void install_stop_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // reads and writes in progress are completed
  for (const int number : {SIGTERM, SIGINT, SIGUSR1}) sigaction(number, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

bool stop_requested() { return received.load(std::memory_order_relaxed) != 0; }
void stop_if_requested() {
  if (!stop_requested()) return;
  throw Interruption(
      fmt::format("stopped on signal {}; give the same command again to continue", stop_signal()));
}

int stop_signal() { return received.load(std::memory_order_relaxed); }

}  // namespace cloze::platform
