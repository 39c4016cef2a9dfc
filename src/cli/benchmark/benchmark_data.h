// The data of a benchmark's run.
#pragma once

#include <filesystem>

#include "cli/benchmark/benchmark_table.h"

namespace cloze::cli {

// Puts the folder of real data in the place of $DATASETS_DIR; without one (""), has the command
// make its data, or writes questions or pairs of sentences of the sample world, and a vocabulary of
// 2048 tokens, to `made`.
void give_data(BenchmarkRun& run, const std::filesystem::path& datasets,
               const std::filesystem::path& made);

}  // namespace cloze::cli
