// `cloze convert`: a model from one form of checkpoint into another
// (checkpoints/conversion.h).
#pragma once

#include "cli/subcommand.h"

namespace cloze::cli {

void add_convert(Subcommand parent);

}  // namespace cloze::cli
