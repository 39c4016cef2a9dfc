// A micro-batch into the inputs of a session; inputs that its graph lacks (labels, when it only
// infers) are left out.
#pragma once

#include "data/micro_batch.h"
#include "engine/session.h"

namespace cloze::inference {

void write_micro_batch(engine::Session& session, const data::MicroBatch& batch);

}  // namespace cloze::inference
