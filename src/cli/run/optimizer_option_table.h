// The options of the update of a step: the learning rate's schedule, and the optimiser.
#pragma once

#include "cli/options/option_table.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"

namespace cloze::cli {

// The upper bound of a share that may not be 1.
inline constexpr double kJustBelowOne = 0.9999999;

// Options that the chosen one does not read are idle.
void add_schedule_options(OptionTable& table, optim::Schedule& schedule);
void add_optimizer_options(OptionTable& table, optim::OptimizerOptions& optimizer);

}  // namespace cloze::cli
