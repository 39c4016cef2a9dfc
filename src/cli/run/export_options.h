// The files that a run writes for other programs, checked before it begins: each has a name of its
// own, which the run itself does not use, and several seeds' runs each have their own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/run/run_options.h"

namespace cloze::cli {

// UserError that names the options and their values.
void validate_exports(const RunOptions& options);
// Of several runs, whose files have to lie in their own folders.
void validate_exports_of_seeds(const RunOptions& options, int64_t num_seeds);

// Before anything is read: UserError when one of the files would overwrite an input of the run.
void require_other_inputs(const RunOptions& options, std::vector<std::filesystem::path> inputs);

}  // namespace cloze::cli
