// The words that kernels for GPUs are written in. A kernel is written once and runs twice: nvcc makes it
// for a card (card_block.h), and g++ for an emulated one, where each of its mistakes is found
// (emulated_block.h). It names nothing of CUDA:
//
//   template <typename T>
//   struct Doubled {
//     static constexpr int kThreads = 128;                        of a block
//     struct Arguments { Global<const T> x; Global<T> y; int64_t count; };
//     CLOZE_DEVICE static void run(const Arguments& in) {         by every thread of the grid
//       const int64_t i = global_thread<Doubled>();
//       if (i < in.count) in.y.store(i, from_float<T>(2 * to_float(in.x.load(i))));
//     }
//   };
//
// A kernel may also have a struct Shared, of Cells, which are the shared memory of a block; it
// begins undefined. Source: NVIDIA, CUDA C++ Programming Guide and PTX ISA, of CUDA 13.0.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#include "backend/gpu/card_block.h"
#else
#include "backend/gpu/emulated_block.h"
#endif

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {

inline constexpr int kWarp = 32;

CLOZE_DEVICE int lane() { return thread() % kWarp; }
CLOZE_DEVICE int warp() { return thread() / kWarp; }

// The number of the thread among all of a grid of one row.
template <typename Kernel>
CLOZE_DEVICE int64_t global_thread() {
  return block() * Kernel::kThreads + thread();
}
template <typename Kernel>
CLOZE_DEVICE int64_t global_warp() {
  return block() * (Kernel::kThreads / kWarp) + warp();
}

CLOZE_DEVICE float to_float(float x) { return x; }

template <typename T>
CLOZE_DEVICE T from_float(float x);
template <>
CLOZE_DEVICE float from_float<float>(float x) {
  return x;
}
template <>
CLOZE_DEVICE bf16 from_float<bf16>(float x) {
  return to_bf16(x);
}

// Neighbouring elements that are loaded and stored together.
template <typename T, int n>
struct alignas(sizeof(T) * n) Neighbours {
  T x[n];
};

// The largest and the sum over the warp, the same bytes in all of its threads.
CLOZE_DEVICE float warp_largest(float x) {
  for (int mask = kWarp / 2; mask > 0; mask /= 2) x = larger(x, shuffle_xor(x, mask));
  return x;
}
template <typename T>
CLOZE_DEVICE T warp_sum(T x) {
  for (int mask = kWarp / 2; mask > 0; mask /= 2) x += shuffle_xor(x, mask);
  return x;
}

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
