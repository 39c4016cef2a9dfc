// Sums over a block, in an order that depends on nothing but its shape: within the warps, and then
// the warps one after the other.
#pragma once

#include "backend/gpu/gpu.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {

template <typename T, int kThreads, int kSums>
struct BlockSums {
  static constexpr int kWarps = kThreads / kWarp;
  Cell<T> cells[kWarps][kSums];

  // Sums what each thread gives; the sums are right in thread 0 alone. All threads call it, once.
  CLOZE_DEVICE void sum(T (&x)[kSums]) {
    CLOZE_UNROLL
    for (int s = 0; s < kSums; ++s) {
      const T sum = warp_sum(x[s]);
      if (lane() == 0) cells[warp()][s].put(sum);
    }
    sync_block();
    if (thread() != 0) return;
    CLOZE_UNROLL
    for (int s = 0; s < kSums; ++s) {
      x[s] = 0;
      for (int w = 0; w < kWarps; ++w) x[s] += cells[w][s].get();
    }
  }
};

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
