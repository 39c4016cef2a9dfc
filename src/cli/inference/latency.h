// cloze latency: how long a model takes to answer, and how much it answers in a second.
#pragma once

#include "cli/subcommand.h"

namespace cloze::cli {

void add_latency(Subcommand parent);

}  // namespace cloze::cli
