// Kernels that go over the elements of a parameter: each block has a chunk of them.
#pragma once

#include "backend/gpu/gpu.h"
#include "base/division.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {

inline constexpr int kChunkThreads = 256;
inline constexpr int64_t kChunkElements = 1024;

inline int64_t num_chunks(int64_t elements) { return divide_up(elements, kChunkElements); }

// Calls visit(i) for the elements that the thread has of its block's chunk.
template <typename Visit>
CLOZE_DEVICE void visit_chunk(int64_t elements, const Visit& visit) {
  const int64_t begin = block() * kChunkElements;
  const int64_t end = begin + kChunkElements < elements ? begin + kChunkElements : elements;
  for (int64_t i = begin + thread(); i < end; i += kChunkThreads) visit(i);
}

// Thread 0 stores the sums of its chunk, [chunks, kSums].
template <typename T, int kSums>
CLOZE_DEVICE void store_sums(const Global<T>& all, const T (&sums)[kSums]) {
  if (thread() != 0) return;
  CLOZE_UNROLL
  for (int s = 0; s < kSums; ++s) all.store(block() * kSums + s, sums[s]);
}

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
