// The probe's own kernels: random contents and a copy.
#pragma once

#include <cstdint>

namespace cloze::cuda_probe {

// Normal numbers as bfloat16. A function of seed and place: nothing is timed on zeros, on which a card is faster.
void fill_normal_bf16(void* values, int64_t count, uint32_t seed);

// Copies 16 bytes per thread and turn; bytes is a multiple of 16.
void copy_by_kernel(void* to, const void* from, int64_t bytes);

// The architecture that the kernels were compiled for and run as: 900 for sm_90.
int kernel_architecture();

}  // namespace cloze::cuda_probe
