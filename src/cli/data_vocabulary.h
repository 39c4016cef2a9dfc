// cloze data vocabulary: trains a WordPiece vocabulary from text files.
#pragma once

#include <CLI/App.hpp>

namespace cloze::cli {

void add_data_vocabulary(CLI::App& parent);

}  // namespace cloze::cli
