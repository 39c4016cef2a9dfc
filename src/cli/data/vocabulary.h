// cloze data vocabulary: trains a WordPiece vocabulary from text files.
#pragma once

#include "cli/subcommand.h"

namespace cloze::cli {

void add_data_vocabulary(Subcommand parent);

}  // namespace cloze::cli
