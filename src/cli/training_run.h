// A training run as every command does it: with metrics.jsonl, TensorBoard, a progress line, a
// checkpoint when a signal asks to stop, and a line about memory at the end.
#pragma once

#include <vector>

#include "cli/options/option_table.h"
#include "cli/run_options.h"
#include "train/training.h"

namespace cloze::cli {

// What RunOptions say of a run; the head, the data and the tokenizer are the caller's.
train::TrainingOptions training_options(const RunOptions& options, int64_t num_steps);

// What a checkpoint keeps of the command: kStoredOptionsName, which gives the same options again,
// and kStoredOriginsName, where each value came from.
std::vector<train::TextFile> option_files(const OptionTable& table);

// Returns where training stands at its end. Exits with 75 when a signal stopped it.
train::TrainingState run_training(train::TrainingOptions training, const RunOptions& options);

}  // namespace cloze::cli
