// `cloze data wikipedia`: a Wikipedia dump or WikiExtractor's output into plain text.
#pragma once

#include "cli/subcommand.h"

namespace cloze::cli {

void add_data_wikipedia(Subcommand parent);

}  // namespace cloze::cli
