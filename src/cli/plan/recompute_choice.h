// What `recompute` saves and costs: a step planned with it and without it.
#pragma once

#include <cstdint>
#include <string>

#include "cli/plan/device_rates.h"
#include "train/training_step.h"

namespace cloze::cli {

struct RecomputeChoice {
  struct Cost {
    int64_t bytes = 0;     // of a step
    double seconds = 0.0;  // of a step
  };
  Cost kept, recomputed;
  bool is_on = false;

  double added_share() const { return recomputed.seconds / kept.seconds - 1.0; }
  // "recompute would save 1289.6 MiB of the 6732.7 that a step takes, and add 22 % to its time"; or
  // "saves ... adds" when it is on.
  std::string text() const;
};

// `planned`: of the step as it is; the other is planned here. UserError as estimated_seconds().
RecomputeChoice recompute_choice(const train::TrainingStepOptions& step,
                                 const RecomputeChoice::Cost& planned, const DeviceRates& rates,
                                 int64_t micro_batches);

}  // namespace cloze::cli
