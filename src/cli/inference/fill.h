// cloze fill: what a pre-trained model expects in the blanks of a text.
#pragma once

#include "cli/subcommand.h"

namespace cloze::cli {

void add_fill(Subcommand parent);

}  // namespace cloze::cli
