// cloze pretrain and cloze plan: train BERT on records, or say what that would take.
#pragma once

#include <CLI/App.hpp>

namespace cloze::cli {

void add_pretrain(CLI::App& parent);

// The same options; prints memory and kernels of the compiled step, runs nothing.
void add_plan(CLI::App& parent);

}  // namespace cloze::cli
