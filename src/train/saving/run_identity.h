// What makes a run the one it is: its model, its data, and the order in which they are met. A
// checkpoint holds it with the values, and only a run that agrees can go on from there; whatever is
// not in it may change.
#pragma once

#include <nlohmann/json.hpp>

#include "train/training.h"

namespace cloze::train {

// {"vocab_size": 30522, ..., "seed": 1234, "data": "5 records 99aa..."}: under the names of the
// options where there is one. global_batch_size counts the sequences of a step, however it was set;
// the data's value is Dataset::fingerprint().
nlohmann::json run_identity(const TrainingOptions& options);

}  // namespace cloze::train
