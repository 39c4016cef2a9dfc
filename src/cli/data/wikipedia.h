// `cloze data wikipedia`: a Wikipedia dump or WikiExtractor's output into plain text.
#pragma once

#include <string>

#include "cli/subcommand.h"
#include "data/wikipedia/wikipedia_text.h"

namespace cloze::cli {

// How far the reading of dumps has come.
std::string describe_dumps(const data::WikipediaProgress& progress, double seconds);

void add_data_wikipedia(Subcommand parent);

}  // namespace cloze::cli
