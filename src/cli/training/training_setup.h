// From the options of `cloze pretrain` to the compiled step of train/, and the memory that it
// takes.
#pragma once

#include <string>

#include "cli/training/pretrain_options.h"
#include "forecast/memory_forecast.h"
#include "plan/program.h"
#include "train/training.h"

namespace cloze::cli {

train::TrainingStepOptions training_step_options(const PretrainOptions& options);

// Adds a step of `pretrain` that is planned, and its evaluation where there is one; the held-out
// samples, which are not opened, are left out.
void add_planned_step(forecast::MemoryForecast& memory, const PretrainOptions& options,
                      const train::TrainingStepOptions& step, const plan::Program& program);

plan::Program compiled(const train::TrainingStepOptions& step);

// How a step is laid out, its parameters, its memory by arena and that of the run, and what it
// takes to infer; with kernels also each operator's choice. The program is the step's.
std::string describe_plan(const train::TrainingStepOptions& step, const plan::Program& program,
                          int64_t sequences_per_step, const forecast::MemoryForecast& memory,
                          bool with_kernels);

}  // namespace cloze::cli
