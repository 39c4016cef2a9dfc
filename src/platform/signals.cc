#include "platform/signals.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace cloze::platform {
namespace {

std::atomic<int> received{0};

void on_signal(int number) {
  const int earlier = received.exchange(number);
  if (earlier == SIGINT && number == SIGINT) _exit(128 + number);
}

}  // namespace

void ignore_file_size_signal() { signal(SIGXFSZ, SIG_IGN); }

void install_stop_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // what is being read or written comes to its end
  for (const int number : {SIGTERM, SIGINT, SIGUSR1}) sigaction(number, &action, nullptr);
}

bool stop_requested() { return received.load(std::memory_order_relaxed) != 0; }
void stop_if_requested() {
  if (!stop_requested()) return;
  throw Interruption(
      fmt::format("stopped on signal {}; give the same command again to go on", stop_signal()));
}

int stop_signal() { return received.load(std::memory_order_relaxed); }

}  // namespace cloze::platform
