// The report on a training step of some options.
#pragma once

#include <string>

#include "cli/plan/report.h"
#include "cli/run_options.h"

namespace cloze::cli {

// Of full sequences.
int64_t micro_batches_of_step(const RunOptions& options);

// Without times. `memory` is a forecast's text. The program has to outlive the report.
Report training_report(const RunOptions& options, const plan::Program& program,
                       const std::string& memory);

}  // namespace cloze::cli
