// Options of Graphcore's BERT programs that are known here and not followed.
// docs/fidelity/options.md says the same, for people.
#pragma once

#include <vector>

#include "cli/options/option_table.h"

namespace cloze::cli {

// Of every program that trains.
std::vector<ForeignOption> foreign_run_options();
// Those, and of the pre-training program alone.
std::vector<ForeignOption> foreign_pretrain_options();

}  // namespace cloze::cli
