// cloze fill: what a pre-trained model expects in the blanks of a text.
#pragma once

#include <CLI/App.hpp>

namespace cloze::cli {

void add_fill(CLI::App& parent);

}  // namespace cloze::cli
