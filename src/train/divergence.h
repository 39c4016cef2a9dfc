// What to say when training leaves the finite numbers: where that began, and what is left.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/session.h"
#include "train/training_step.h"

namespace cloze::train {

// Training has left the finite numbers.
class DivergenceError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// "bert.pooler.dense.weight (element 0 is nan)": the first parameter or optimiser state that is not
// finite, in the order of updates and in each of causes: moments before weights.
std::optional<std::string> find_non_finite_state(engine::Session& session);

// "It began in ...", after StepResult::is_finite() was false. Computes the step again.
std::string origin_of(TrainingStep& step, const data::StepBatch& batch, int64_t step_index);

}  // namespace cloze::train
