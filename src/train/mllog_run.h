// The facts about a run in MLPerf's log (metrics/mllog.h).
#pragma once

#include <cstdint>

#include "train/metrics/mllog.h"
#include "train/training_options.h"

namespace cloze::train {

// "seed", "global_batch_size", "opt_lamb_beta_1" ... of the run; what its optimiser does not read
// is left out.
MllogRun mllog_run(const TrainingOptions& options, int64_t sequence_length,
                   const Submission& submission = {});

}  // namespace cloze::train
