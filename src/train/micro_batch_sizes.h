// The sizes of the programs that compute a step's micro-batches (engine/sized_sessions.h): 1 to 8
// eighths of the token and prediction slots of a full one. The choice depends only on the sizes of
// the micro-batch: a resumed run continues as if it had not stopped, and all ranks of a pipeline
// choose alike.
#pragma once

#include <cstdint>

#include "data/micro_batch.h"
#include "engine/sized_sessions.h"

namespace cloze::train {

inline constexpr int64_t kMicroBatchSizes = 8;  // with the full one

using MicroBatchSize = engine::SizedSessions::Size;
MicroBatchSize size_of(const data::MicroBatchCapacity& capacity);
// What a micro-batch needs.
MicroBatchSize size_of(const data::MicroBatch& micro_batch);
// The fewest eighths of `full` that hold it.
MicroBatchSize eighths_for(const MicroBatchSize& need, const MicroBatchSize& full);

// What the sessions of all smaller sizes take beside the full one's memory, without code that
// oneDNN makes for more shapes.
int64_t smaller_sessions_bytes(const plan::Program& full);

}  // namespace cloze::train
