// The memory that a training run takes, in the parts that its forecast names.
#pragma once

#include "cli/run/pretrain_run.h"
#include "forecast/memory_forecast.h"
#include "plan/program.h"

namespace cloze::cli {

// Forecasts a run besides its compiled step, before that exists; `now` is what the process takes.
forecast::MemoryForecast memory_beside_step(
    const ResolvedRun& run, forecast::MemoryForecast now = forecast::MemoryForecast());

// Adds a step of the program; the metrics that device_iterations keep; and the copy that checkpoints
// are written from, if the run saves before its end.
void add_step(forecast::MemoryForecast& memory, const train::TrainingOptions& training,
              const plan::Program& program, bool saves_before_end);
// Adds a step of `pretrain` that is planned, and its evaluation where there is one; the held-out
// samples, which are not opened, are left out.
void add_planned_step(forecast::MemoryForecast& memory, const PretrainRun& run,
                      const plan::Program& program);

// Says whether the run does. Before it is set up, an unknown length counts as a long one.
bool saves_before_end(const train::TrainingOptions& training, int64_t num_steps);
bool saves_before_end(const ResolvedRun& run);

}  // namespace cloze::cli
