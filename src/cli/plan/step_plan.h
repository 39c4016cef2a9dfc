// The compiled step of a run that is planned, and what a plan says of it.
#pragma once

#include <cstdint>
#include <string>

#include "forecast/memory_forecast.h"
#include "plan/program.h"
#include "train/training_graph.h"

namespace cloze::cli {

plan::Program compiled(const train::TrainingStepOptions& step);

// How a step is laid out, its parameters, its memory by arena and that of the run, and what it
// takes to infer; with kernels also each operator's choice. The program is the step's.
std::string describe_plan(const train::TrainingStepOptions& step, const plan::Program& program,
                          int64_t sequences_per_step, const forecast::MemoryForecast& memory,
                          bool with_kernels);

}  // namespace cloze::cli
