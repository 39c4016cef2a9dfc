// cloze compile: a model with its weights packed for this machine, in one file.
#pragma once

#include "cli/subcommand.h"

namespace cloze::cli {

void add_compile(Subcommand parent);

}  // namespace cloze::cli
