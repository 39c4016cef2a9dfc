// `cloze data verify`: every record of a data set read and checked.
#pragma once

#include "cli/subcommand.h"

namespace cloze::cli {

void add_data_verify(Subcommand parent);

}  // namespace cloze::cli
