// After which steps a pre-training run is evaluated.
#pragma once

#include <cstdint>
#include <vector>

#include "cli/pretrain_options.h"

namespace cloze::cli {

// Sequences between two evaluations by MLPerf's rules for BERT: 0.05 (230.23 N + 3000000) for steps
// of N sequences, in whole 25000.
// Source: github.com/mlcommons/training_policies, training_rules.adoc.
int64_t mlperf_interval(int64_t sequences_per_step);

// The steps, of those before the last, with which the run has trained on as many sequences as one
// of the triggers says, or more; ascending.
std::vector<int64_t> validation_steps(const ValidationOptions& options, int64_t sequences_per_step,
                                      int64_t num_steps);

}  // namespace cloze::cli
