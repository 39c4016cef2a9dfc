// `cloze data squad`: the features of a SQuAD file, counted and written as records.
#pragma once

#include "cli/subcommand.h"

namespace cloze::cli {

void add_data_squad(Subcommand parent);

}  // namespace cloze::cli
