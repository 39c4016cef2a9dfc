// `cloze data packing`: how well sequences of given lengths share packs of a fixed size.
#pragma once

#include "cli/subcommand.h"

namespace cloze::cli {

void add_data_packing(Subcommand parent);

}  // namespace cloze::cli
