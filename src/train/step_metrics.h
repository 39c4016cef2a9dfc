// What is measured at a step of a run.
#pragma once

#include <vector>

#include "train/metrics/metrics.h"
#include "train/run.h"

namespace cloze::train {

// How long a step took, on average of those that the device computed together.
struct StepSeconds {
  double all = 0.0;
  double waited = 0.0;  // of them, for data
};

// The metrics of a step that has been counted.
StepMetrics step_metrics(const Run& run, const StepAhead& step, const StepResult& result,
                         StepSeconds seconds);

// The norms of all tensors of the model (tensor_norms.h); all ranks call it together.
std::vector<TensorNorm> norms_of_all(TrainingStep& step, double loss_scale);

}  // namespace cloze::train
