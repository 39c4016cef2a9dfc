// Start values of a run: those of another program's, or another run's, weights and moments.
#pragma once

#include <filesystem>

#include "train/run.h"

namespace cloze::train {

// Takes TrainingOptions::init_checkpoint into a run whose parameters have been initialised; the
// tensors that it lacks keep their values. All ranks call it together. UserError when it does not
// fit, DataError for values that are not finite.
void load_initial_values(Run& run);

// DataError when the state of a run is not finite from the start: no step could tell where that
// came from. All ranks call it together.
void require_finite_start(Run& run, const std::filesystem::path& source);

}  // namespace cloze::train
