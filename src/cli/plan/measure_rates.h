// Measures how fast this machine runs the operators of a plan.
#pragma once

#include "cli/run/pretrain_run.h"
#include "forecast/device_rates.h"

namespace cloze::cli {

// Trains a model of the plan's widths but of two layers at most, which has all kinds of its
// launches, for a few steps of one micro-batch of full random sequences. Takes a few seconds, and
// the memory of such a model.
forecast::DeviceRates measure_rates(const PretrainRun& run);

}  // namespace cloze::cli
