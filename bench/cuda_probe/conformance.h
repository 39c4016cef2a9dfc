// Whether a card does what its emulation says: what the tests of kernels for GPUs take for granted (docs/design/cuda.md).
#pragma once

#include <cstdint>
#include <vector>

#include "primitives.h"

namespace cloze::cuda_probe {

// Runs every primitive on the card and emulated, on random numbers among which are all kinds of f32, and writes a row for
// each. Returns how many differ.
int check_primitives();

// Whether two results are the same, as the primitive is compared.
bool is_same(const Primitive& primitive, uint64_t one, uint64_t other);

}  // namespace cloze::cuda_probe
