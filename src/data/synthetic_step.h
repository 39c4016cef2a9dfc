// Synthetic data: one micro-batch, the same in every pass of every step, so that nothing is read
// and nothing is moved to the device after the first.
#pragma once

#include "data/loader.h"
#include "data/micro_batch.h"

namespace cloze::data {

// Its micro-batch holds the whole data set. InternalError when that does not fit into one, or when
// the step's samples are no whole number of them.
StepBatch synthetic_step(const LoaderOptions& options);

}  // namespace cloze::data
