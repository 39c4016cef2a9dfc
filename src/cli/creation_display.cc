#include "cli/creation_display.h"

#include <fmt/core.h>

#include <condition_variable>
#include <cstdio>
#include <mutex>

#include "platform/terminal.h"

namespace cloze::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double seconds_left(double done, double total, double seconds) {
  return done > 0 ? seconds * (total - done) / done : 0;
}

}  // namespace

std::string describe(const data::CreationProgress& progress, double tokenising_seconds,
                     double creating_seconds) {
  const auto passes = static_cast<double>(progress.passes);
  const auto total_passes = static_cast<double>(progress.total_passes);
  if (total_passes > 0) {
    const auto instances = static_cast<double>(progress.instances);
    return fmt::format("instances {:.0f} %, {:.0f} so far, {:.0f} a second, {:.0f} s left",
                       100 * passes / total_passes, instances,
                       creating_seconds > 0 ? instances / creating_seconds : 0,
                       seconds_left(passes, total_passes, creating_seconds));
  }
  const auto bytes = static_cast<double>(progress.text_bytes);
  const auto total = static_cast<double>(progress.total_text_bytes);
  return fmt::format("tokenising {:.0f} % of {:.1f} MB, {:.1f} MB/s, {:.0f} s left",
                     total > 0 ? 100 * bytes / total : 0, total / 1e6,
                     tokenising_seconds > 0 ? bytes / 1e6 / tokenising_seconds : 0,
                     seconds_left(bytes, total, tokenising_seconds));
}

CreationDisplay::CreationDisplay(const data::CreationProgress& progress)
    : progress_(progress), thread_([this](const std::stop_token& stop) { run(stop); }) {}

void CreationDisplay::run(const std::stop_token& stop) {
  const bool redraws = platform::is_interactive_terminal();
  const auto period = redraws ? std::chrono::milliseconds(200) : std::chrono::seconds(5);
  const Clock::time_point start = Clock::now();
  Clock::time_point creation_start = start;
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  while (!stopped.wait_for(lock, stop, period, [&] { return stop.stop_requested(); })) {
    if (progress_.total_passes == 0) creation_start = Clock::now();
    const std::string line =
        describe(progress_, seconds_since(start), seconds_since(creation_start));
    fmt::print(stderr, "{}{}{}", redraws ? "\r\033[K" : "", line, redraws ? "" : "\n");
    std::fflush(stderr);
  }
  if (redraws) fmt::print(stderr, "\r\033[K");
}

}  // namespace cloze::cli
