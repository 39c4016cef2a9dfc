// The options of a run that resumes (restore_dir). An option that neither the command line nor a
// file gives keeps its value from the checkpoint (training_config.json). Given values that differ
// are reported; train/run_identity.h refuses those that a run cannot change.
#pragma once

#include <cstdint>
#include <filesystem>

#include "cli/options/option_table.h"
#include "cli/run/run_options.h"

namespace cloze::cli {

// After OptionTable::resolve(). Does nothing without restore_dir; start weights of higher precedence
// (settle_rivals) clear it. save_path becomes that folder unless the command line gives it, or the
// file that gives restore_dir; a note names the save_path of a file that is not used. From a folder
// of several seeds' runs (seed-N) the options of the first are taken; where later runs added seeds,
// num_seeds becomes theirs, which is noted. UserError when there is no checkpoint.
void take_options_of_run(OptionTable& table, RunOptions& options);

// The run of one seed, in a folder of several.
std::filesystem::path run_of_seed(const std::filesystem::path& folder, int64_t seed);

// The options that the newest checkpoint of a run has; an empty object where it has none.
formats::Json newest_options(const std::filesystem::path& run);

}  // namespace cloze::cli
