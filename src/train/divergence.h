// Explains divergence: where the first number that is not finite came from, and what it reached.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "engine/session.h"
#include "train/training_step.h"

namespace cloze::train {

// Training diverged: a loss, a gradient or a result of the update is not finite.
class DivergenceError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// "bert.pooler.dense.weight (element 0 is nan)": the first parameter or optimiser state that is not
// finite, of any rank; all ranks ask together.
std::optional<std::string> find_non_finite_state(TrainingStep& step);

// The same of the gradients that a step holds.
std::optional<std::string> find_non_finite_gradient(TrainingStep& step);

// "step 3 is not finite: loss nan, gradient norm inf", of the step counted from 1.
std::string not_finite_step(int64_t step, const StepResult& result);

// A step of this micro-batch alone.
data::StepBatch alone(const data::MicroBatch& batch);

// "It began in ...", after StepResult::is_finite() was false. Computes the step again.
std::string origin_of(TrainingStep& step, const data::StepBatch& batch, int64_t step_index);

// "produced numbers that are not finite in ...", after StepResult::update_is_finite was false. An
// update computes each parameter from its own gradient, so no parameter causes the overflow of
// another. When several overflow, the text names the one with the largest gradient, and of its
// tensors a moment before the weight, because the weight follows from the moment.
std::string overflow_of(TrainingStep& step, double learning_rate);

// Whether the weights as they are give a finite loss and finite gradients: those that grew too far
// in one update are finite themselves. Computes one micro-batch. All ranks ask together.
bool has_finite_gradients(TrainingStep& step, const data::MicroBatch& batch, int64_t step_index);

}  // namespace cloze::train
