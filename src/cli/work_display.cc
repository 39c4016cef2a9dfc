#include "cli/work_display.h"

#include <fmt/core.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <utility>

#include "platform/standard_streams.h"

namespace cloze::cli {

double seconds_left(double done, double total, double seconds, double before) {
  return done > before ? seconds * (total - done) / (done - before) : 0;
}

std::string describe_bytes(double done, double total, double seconds, double before) {
  return fmt::format("{:.0f} % of {:.1f} MB, {:.1f} MB/s, {:.0f} s left",
                     total > 0 ? 100 * done / total : 0, total / 1e6,
                     seconds > 0 ? (done - before) / 1e6 / seconds : 0,
                     seconds_left(done, total, seconds, before));
}

WorkDisplay::WorkDisplay(std::function<std::string(double seconds)> describe)
    : describe_(std::move(describe)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

void WorkDisplay::run(const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  const bool redraws = platform::is_interactive_terminal();
  const auto period = redraws ? std::chrono::milliseconds(200) : std::chrono::seconds(5);
  const Clock::time_point start = Clock::now();
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  while (!stopped.wait_for(lock, stop, period, [&] { return stop.stop_requested(); })) {
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    fmt::print(stderr, "{}{}{}", redraws ? "\r\033[K" : "", describe_(elapsed.count()),
               redraws ? "" : "\n");
    std::fflush(stderr);
  }
  if (redraws) fmt::print(stderr, "\r\033[K");
}

}  // namespace cloze::cli
