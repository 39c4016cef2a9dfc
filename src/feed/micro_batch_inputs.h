// Writes a micro-batch into the inputs of a session; inputs that its graph lacks (labels, when it
// only infers) are left out.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "data/micro_batch.h"
#include "engine/session.h"

namespace cloze::feed {

// Kernels do not check ids, so this does. UserError when an id is not in [0, rows).
void require_rows(std::span<const int32_t> ids, int64_t rows, std::string_view what);

// The session may have fewer slots than the batch, if all that are used are among them.
void write_micro_batch(engine::Session& session, const data::MicroBatch& batch);

}  // namespace cloze::feed
