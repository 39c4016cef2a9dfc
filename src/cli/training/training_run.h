// A training run as every command does it: with metrics.jsonl, TensorBoard, a progress line, a
// checkpoint when a signal asks to stop, and a line about memory before the first step and at the
// end.
#pragma once

#include <cstdint>

#include "cli/run/resolved_run.h"
#include "train/training.h"

namespace cloze::cli {

// After a signal: says how a run that is saved goes on, and ends the program with 75. `when` follows
// the number of the signal.
[[noreturn]] void end_saved_run(const RunOptions& options, int signal, const char* when = "");

// Returns where training stands at its end. Exits with 75 when a signal stopped it. `training` is
// the run's, with its data and its length; evaluation_bytes: what its evaluation takes.
train::TrainingState run_training(train::TrainingOptions training, const ResolvedRun& run,
                                  int64_t evaluation_bytes = 0);

}  // namespace cloze::cli
