// From the options of `cloze pretrain` to what train/ takes: the compiled step, the data, the run.
#pragma once

#include <string>

#include "cli/pretrain_options.h"
#include "plan/program.h"
#include "train/training.h"

namespace cloze::cli {

train::TrainingStepOptions training_step_options(const PretrainOptions& options);

// Opens the data; tokenises it first when it is text.
train::TrainingOptions pretraining_options(const PretrainOptions& options);

// How a step is laid out, its parameters and memory by arena; with kernels also each operator's
// choice.
std::string describe_plan(const train::TrainingStepOptions& step, int64_t sequences_per_step,
                          bool with_kernels);

}  // namespace cloze::cli
