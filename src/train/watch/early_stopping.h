// Early stopping: a run ends when `patience` evaluations in a row have gained nothing.
//
// An evaluation gains when its score is more than `min_gain` above that of the last one that gained,
// so that small gains add up; the first gains. A score that is not a number gains nothing.
// Source: EarlyStopping of Keras and of PyTorch Lightning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cloze::train {

struct EarlyStoppingOptions {
  int64_t patience = 0;   // 0: the run does not end early
  double min_gain = 0.0;  // in the unit of the score
};

// The state that a run carries from evaluation to evaluation, and a checkpoint keeps.
struct EarlyStoppingState {
  std::optional<double> gained;  // score of the last evaluation that gained
  int64_t without_gain = 0;      // evaluations since
  bool operator==(const EarlyStoppingState&) const = default;

  void take(double score, const EarlyStoppingOptions& options);
  bool ends_run(const EarlyStoppingOptions& options) const {
    return options.patience > 0 && without_gain >= options.patience;
  }
  // "none of the last 3 evaluations exceeds 0.8125 by more than 0.01"
  std::string reason(const EarlyStoppingOptions& options) const;
};

}  // namespace cloze::train
