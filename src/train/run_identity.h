// The identity of a run: its model, its data, and the order in which the data are seen. A
// checkpoint stores these values, and only a run with the same values can resume from it.
// Everything else may change.
#pragma once

#include "formats/json.h"
#include "train/training_options.h"

namespace cloze::train {

// {"vocab_size": 30522, ..., "seed": 1234, "data": "5 records 99aa..."}: under the names of the
// options where there is one. global_batch_size counts the sequences of a step, however it was set;
// the data's value is Dataset::fingerprint().
formats::Json run_identity(const TrainingOptions& options);

}  // namespace cloze::train
