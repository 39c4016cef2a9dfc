// `cloze plan --fit`: the largest micro-batch that fits into a given memory.
#pragma once

#include <cstdint>
#include <string>

#include "cli/run/pretrain_options.h"
#include "forecast/memory_forecast.h"

namespace cloze::cli {

// Sets tokens_per_micro_batch to as many full sequences as fit `memory` (base/byte_size.h), and
// global_batch_size to the sequences that a step has without it. Returns a line with both as
// options to copy. `before` is what the process takes now. UserError when not even one sequence
// fits, which says what that takes, and what it would take with recompute.
std::string fit_micro_batch(PretrainOptions& options, const std::string& memory,
                            const forecast::MemoryForecast& before);

}  // namespace cloze::cli
