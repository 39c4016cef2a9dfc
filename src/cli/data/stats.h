// `cloze data stats`: what pre-training records hold, counted.
#pragma once

#include "cli/subcommand.h"

namespace cloze::cli {

void add_data_stats(Subcommand parent);

}  // namespace cloze::cli
