// The norm of every weight and of its gradient. They show which weight grows.
#pragma once

#include <vector>

#include "engine/session.h"
#include "train/metrics/metrics.h"

namespace cloze::train {

// The root of its sum of squares (runtime/sum_of_squares.h).
double norm_of(engine::Session& session, graph::Value value);

// In the graph's order. Between TrainingStep::begin() and finish(): the gradients are those of the
// step. The root of the sum of their squares is StepResult::gradient_norm.
std::vector<TensorNorm> tensor_norms(engine::Session& session, double loss_scale);

}  // namespace cloze::train
