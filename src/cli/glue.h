// `cloze glue`: fine-tunes on a GLUE task, scores it, writes what the benchmark's site takes.
#pragma once

#include "cli/subcommand.h"

namespace cloze::cli {

void add_glue(Subcommand parent);

}  // namespace cloze::cli
