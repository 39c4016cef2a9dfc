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

// Memory by arena, parameters, work per step; with kernels also each operator's choice.
std::string describe_program(const plan::Program& program, bool with_kernels);

}  // namespace cloze::cli
