#include "cli/console/work_display.h"

#include <fmt/core.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <utility>

#include "base/seconds.h"
#include "base/time_text.h"
#include "cli/console/say.h"
#include "platform/standard_streams.h"

namespace cloze::cli {

double percent(int64_t part, int64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string time_left(int64_t done, int64_t total, double seconds, int64_t before) {
  if (done <= before) return "?";
  return time_text(seconds * static_cast<double>(total - done) /
                   static_cast<double>(done - before));
}

std::string describe_bytes(int64_t done, int64_t total, double seconds, int64_t before) {
  const double megabytes = static_cast<double>(done - before) / 1e6;
  return fmt::format("{:.0f} % of {:.1f} MB, {:.1f} MB/s, {} left", percent(done, total),
                     static_cast<double>(total) / 1e6, seconds > 0 ? megabytes / seconds : 0,
                     time_left(done, total, seconds, before));
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
    const double elapsed = seconds_since(start);
    say("{}{}{}", redraws ? "\r\033[K" : "", describe_(elapsed), redraws ? "" : "\n");
    std::fflush(stderr);
  }
  if (redraws) say("\r\033[K");
}

}  // namespace cloze::cli
