// The resolved options of a training command. Options are parsed into RunOptions, and resolved
// once; all that follows reads the result, which nothing changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/stored_options.h"
#include "cli/run/batch_plan.h"
#include "cli/run/run_options.h"
#include "forecast/device_rates.h"
#include "train/training.h"

namespace cloze::cli {

// The steps of a run, as far as its options say; those of epochs follow from the data.
struct RunLength {
  std::optional<int64_t> scheduled;  // of the learning rate's schedule
  std::optional<int64_t> last_step;  // ends the run, whatever its schedule
  int64_t least = 0;                 // of a schedule of epochs
  std::optional<int64_t> planned() const { return last_step ? last_step : scheduled; }
};

struct ResolvedRun {
  // Takes options that are settled; keeps a reference to them. UserError as batch_plan().
  explicit ResolvedRun(const RunOptions& options);

  const RunOptions& options;
  BatchPlan batch;
  RunLength length;
  // Complete but for what comes with the data and the task; training_of() adds the length.
  train::TrainingOptions training;
};

// Checks what depends on several options. UserError that names them and their values.
void validate(const ResolvedRun& run);
void validate_start(const RunOptions& options);
// The model that the options describe, for a command that takes none from a checkpoint.
void validate_model(const RunOptions& options);
void validate_positions(const RunOptions& options, const char* advice);

// The steps of the schedule over so many samples, of which `copies` say the same: as the options
// say, or epochs * (num_samples / copies) / sequences_per_step, rounded down. With whole steps in an
// epoch, they are rounded first, and the product up, as transformers does. UserError when that is
// less than one step.
int64_t scheduled_steps(const ResolvedRun& run, int64_t num_samples, int64_t copies = 1);

// The run of so many scheduled steps. Says so where they are fewer than the warm-up has, as when a
// long configuration is tried for a few steps.
train::TrainingOptions training_of(const ResolvedRun& run, int64_t scheduled_steps);

// The rates in the file that device_file names, which may be one that comes with the program.
forecast::DeviceRates device_rates(const RunOptions& options);

// The files of a command in checkpoints: kStoredOptionsName, which gives the same options again,
// and kStoredOriginsName, where each value came from. UserError as require_storable().
std::vector<train::TextFile> option_files(const formats::Json& values,
                                          const formats::Json& origins);
// UserError for a value that is not UTF-8.
void require_storable(const formats::Json& values);

}  // namespace cloze::cli
