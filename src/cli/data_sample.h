// cloze data sample: writes the documents and the cloze items of a sample world.
#pragma once

#include <CLI/App.hpp>

namespace cloze::cli {

void add_data_sample(CLI::App& parent);

}  // namespace cloze::cli
