// The seed of all emulated launches of this process: each takes the next number of its sequence, so
// that a kernel that runs again runs in another order.
#pragma once

#include <cstdint>

namespace cloze::backend::gpu::emulation {

// Begins the sequence. Until it is called the seed is 0.
void set_seed(uint64_t seed);
uint64_t draw_seed();

}  // namespace cloze::backend::gpu::emulation
