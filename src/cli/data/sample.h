// cloze data sample: writes the documents and the cloze items of a sample world.
#pragma once

#include "cli/subcommand.h"

namespace cloze::cli {

void add_data_sample(Subcommand parent);

}  // namespace cloze::cli
