// The policies for a step that goes wrong, and the limit above which a loss is a spike.
//
//   stop       with an error that names step, operator and tensor
//   skip       the step updates nothing and does not count; the next one takes other data
//   roll_back  to the newest checkpoint; the run goes on from there, with the data after the bad
//              step
//   warn       a line for the user; the step counts
//   ignore     nothing
//
// A step that is not finite is never kept. Skipping cannot mend weights that are not finite, so
// `skip` stops the run then. The run also stops after kMostSkips skipped steps in a row, or after
// kMostRollBacks returns to the same checkpoint.
// A spike is a loss more than 6 standard deviations above the mean of the losses before it. Mean
// and deviation are running ones over about 128 steps:
//
//   a = max(1/(n+1), 1/128);  d = loss - mean;  mean += a d;  variance = (1 - a)(variance + a d^2)
//
// They are used once 64 losses are known. A spike enters them as if it were at the limit, so that
// it does not hide the next one.
//
// A loss is high when it is more than a tenth above what it would be before the first update
// (models::untrained_loss): even guesses would be better. A loss that is high for kHighLossSteps
// steps in a row is reported, or ends the run. This needs no earlier losses, and a slow rise does
// not hide from it. The steps that led there were good ones, so there is nothing to skip, and going
// back would lead there again.
// Source: 6 deviations over 128 steps, at least half of them: OLMo-core, SkipStepOptimizer; going
// back and leaving data out: PaLM, arXiv 2204.02311, section 5.1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cloze::train {

inline constexpr int64_t kMostSkips = 16;
inline constexpr int64_t kMostRollBacks = 3;
inline constexpr int64_t kHighLossSteps = 16;

enum class WatchPolicy { kIgnore, kWarn, kSkip, kRollBack, kStop };

// "ignore", "warn" ...: of the policies from `first` on.
std::vector<std::string> watch_policy_names(WatchPolicy first = WatchPolicy::kIgnore);
std::string watch_policy_name(WatchPolicy policy);
WatchPolicy watch_policy_named(const std::string& name);  // one of these

struct WatchOptions {
  WatchPolicy on_non_finite = WatchPolicy::kStop;  // kSkip, kRollBack or kStop
  WatchPolicy on_loss_spike = WatchPolicy::kWarn;
  WatchPolicy on_high_loss = WatchPolicy::kWarn;  // kIgnore, kWarn or kStop

  bool acts_on_spikes() const {
    return on_loss_spike != WatchPolicy::kIgnore && on_loss_spike != WatchPolicy::kWarn;
  }
  bool rolls_back() const {
    return on_non_finite == WatchPolicy::kRollBack || on_loss_spike == WatchPolicy::kRollBack;
  }
};

struct LossStatistics {
  int64_t count = 0;
  double mean = 0.0;
  double variance = 0.0;

  double limit() const;  // above it a loss is a spike; infinite while too few are known
  void take(double loss);
  bool operator==(const LossStatistics&) const = default;
};

// `untrained`: models::untrained_loss.
bool is_high_loss(double loss, double untrained);

// The state that a run carries from step to step, and a checkpoint keeps.
struct WatchState {
  LossStatistics losses;
  int64_t high_losses = 0;      // in a row
  int64_t skips = 0;            // in a row
  int64_t roll_backs = 0;       // in a row to the same checkpoint
  int64_t rolled_back_to = -1;  // its step
  bool operator==(const WatchState&) const = default;
};

// A thing that went wrong in a step.
struct StepProblem {
  std::string what;       // "step 3 is not finite: ...", without the period
  std::string advice;     // likewise
  bool can_skip = false;  // nothing was updated, and other data may help
};

}  // namespace cloze::train
