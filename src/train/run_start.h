// How a run begins: afresh, from start values, or from a checkpoint of its own.
#pragma once

#include "train/evaluator.h"
#include "train/run.h"
#include "train/saver.h"

namespace cloze::train {

// Gives the run its parameters and its state, as its options say. All ranks call it together.
// UserError when the folder holds another run, or the checkpoint is of another; DataError for
// damaged checkpoints and for values that are not finite.
void start(Run& run, Saver& saver, Evaluator& evaluator);

// Parameters, optimiser states and history of a checkpoint of this run, which is at its state.
void load_checkpoint(Run& run, const OpenCheckpoint& checkpoint);

}  // namespace cloze::train
