// A training run as every command does it: with metrics.jsonl, TensorBoard, a progress line, a
// checkpoint when a signal asks to stop, and a line about memory before the first step and at the
// end.
#pragma once

#include <vector>

#include "cli/options/stored_options.h"
#include "cli/training/run_options.h"
#include "forecast/device_rates.h"
#include "forecast/memory_forecast.h"
#include "plan/program.h"
#include "train/training.h"

namespace cloze::cli {

// The rates in the file that device_file names, which may be one that comes with the program.
forecast::DeviceRates device_rates(const RunOptions& options);

// What RunOptions say about a step; the caller adds the head and the room for predictions.
train::TrainingStepOptions step_options(const RunOptions& options);
// What RunOptions say about a run of so many steps; the caller adds the head, the data and the
// tokenizer.
train::TrainingOptions training_options(const RunOptions& options, int64_t num_steps);

// What a checkpoint keeps of the command: kStoredOptionsName, which gives the same options again,
// and kStoredOriginsName, where each value came from.
std::vector<train::TextFile> option_files(const OptionTable& table);
// The values in them.
formats::Json stored_options(const std::vector<train::TextFile>& files);

// The memory that a run takes besides its compiled step, before that exists; `now` is what the
// process takes.
forecast::MemoryForecast memory_beside_step(
    const RunOptions& options, const data::MicroBatchCapacity& capacity,
    forecast::MemoryForecast now = forecast::MemoryForecast());

// Adds a step of the program; the metrics that device_iterations keep; and the copy
// that checkpoints are written from, if the run saves before its end.
void add_step(forecast::MemoryForecast& memory, const RunOptions& options,
              const plan::Program& program, bool saves_before_end);
// Whether the run does. Before it is set up, an unknown length counts as a long one.
bool saves_before_end(const train::TrainingOptions& training, int64_t num_steps);
bool saves_before_end(const RunOptions& options);

// After a signal: says how a run that is saved goes on, and ends the program with 75. `when` follows
// the number of the signal.
[[noreturn]] void end_saved_run(const RunOptions& options, int signal, const char* when = "");

// Returns where training stands at its end. Exits with 75 when a signal stopped it.
// evaluation_bytes: what the training's evaluation takes.
train::TrainingState run_training(train::TrainingOptions training, const RunOptions& options,
                                  int64_t evaluation_bytes = 0);

}  // namespace cloze::cli
