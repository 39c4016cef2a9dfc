// The progress of a run for a person to watch: a bar that is redrawn on a terminal, plain lines
// every few seconds elsewhere. Writes to a stream of the caller's; never more than what fits its
// width.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "train/metrics/metrics.h"

namespace cloze::train {

struct ProgressOptions {
  int64_t total_steps = 0;
  bool redraws = false;  // the stream is a terminal: draw a bar; otherwise print lines
  bool has_color = false;
  int columns = 80;                  // of the terminal
  double seconds_between_lines = 5;  // off a terminal; the first and last steps are always shown
  // Seconds since any fixed moment; tests put their own clock here.
  std::function<double()> clock = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
};

class Progress : public MetricsSink {
 public:
  Progress(std::ostream& out, ProgressOptions options);
  void write(const StepMetrics& metrics) override;
  // Shows the last step if it has not been shown, and ends the bar's line. Messages that other
  // code prints belong after finish() or between clear() and the next write().
  void finish() override;
  void clear();
  // The time left is estimated from the steps that follow.
  void forget_after(int64_t /*step*/) override { window_.clear(); }

 private:
  bool is_due(double now, int64_t step) const;
  void show(const StepMetrics& metrics);
  std::string bar(const StepMetrics& metrics, const std::vector<std::string>& fields) const;
  double seconds_left(int64_t step) const;

  struct Moment {
    double seconds;
    int64_t step;
  };
  std::ostream& out_;
  ProgressOptions options_;
  std::deque<Moment> window_;  // recent steps, for the estimate of the time left
  double last_shown_seconds_ = 0;
  int64_t last_shown_step_ = -1;
  StepMetrics latest_;
};

// "42s", "3:05" (minutes), "1:02:03", "2d 03:04" (days, hours and minutes); "?" when unknown (< 0).
std::string duration_text(double seconds);

}  // namespace cloze::train
