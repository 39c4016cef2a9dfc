// How long a pre-training run will take on this machine, before it starts.
//
//   seconds = useful FLOPs of the run (models/bert_flops.h) / rate of a matrix product
//
// unless measured rates of all operators are given (plan/step_seconds.h). The product is the
// largest of the model's own, [T, H] x [H, F] in the run's precision and on its threads. Measuring
// its rate takes a tenth of a second. It is an estimate: every sequence counts as full, and every
// operator as being as fast as that product.
#pragma once

#include <cstdint>
#include <string>

#include "cli/run/pretrain_run.h"

namespace cloze::cli {

// Useful FLOPs of full sequences with as many predictions as they may have.
double training_flops(const PretrainRun& run, int64_t sequences);

// FLOP/s of the product; the best of a few.
double product_rate(const PretrainRun& run);

// "40 seconds", "8.2 hours", "7.4 years": two digits, in the unit a person would take.
std::string rough_duration(double seconds);

// How long a step of full sequences takes.
struct StepEstimate {
  double seconds = 0.0;
  std::string source;     // "an estimate from the rates of ..."
  bool is_least = false;  // a step takes longer: not all of its operators are counted
};

// Two lines for a plan: what the run sees, and how long that takes by the estimate of a step. For a
// run in epochs, whose data are not known here, it is the time of a million sequences.
std::string describe_run(const ResolvedRun& run, const StepEstimate& step);

}  // namespace cloze::cli
