// The emulated device: the kernels for GPUs (backend/gpu), each run by an emulated block of threads
// in seeded random order. What they do not serve, such as f16, is left to the CPU's. A kernel that
// does anything wrong throws InternalError, which names the line of its source.
//
// Its memory is the host's, and its streams work in the call: what late streams break is the late
// device's. For tests, and slow.
#pragma once

#include <span>

#include "backend/device.h"

namespace cloze::backend::emulated {

const Backend& backend();
// The seed is in the environment variable CLOZE_EMULATED_SEED; 0 when it is not set. UserError when
// it is not a whole number.
Device& device();

// The operator's own kernels here, without the CPU's behind them.
std::span<const KernelEntry> own_kernels(const graph::OpDefinition& op);

}  // namespace cloze::backend::emulated
