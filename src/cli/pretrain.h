// cloze pretrain and cloze plan: train BERT on records, or say what that would take.
#pragma once

#include "cli/subcommand.h"

namespace cloze::cli {

void add_pretrain(Subcommand parent);

// The same options; prints memory and kernels of the compiled step, runs nothing.
void add_plan(Subcommand parent);

}  // namespace cloze::cli
