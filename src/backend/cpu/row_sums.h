// RowSums: sums over rows (dgamma, dbeta) that several threads add up. The rows are cut into chunks
// by their number alone; each chunk has its own partial sums in the workspace, and the partial
// sums are added in order. So the result is the same for any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/parallel.h"
#include "backend/kernel.h"

namespace cloze::backend::cpu {

class RowSums {
 public:
  static constexpr int64_t kMostChunks = 64;
  static constexpr int64_t kLeastRows = 32;    // of a chunk, while there are fewer chunks
  static constexpr int64_t kLeastSums = 1024;  // fewer are not worth a part of finish()

  RowSums(int64_t rows, int64_t sums, int num_threads);

  size_t workspace_bytes() const;  // a multiple of 64

  // Calls body(rows, sums) for every chunk: its rows, with the thread that runs it, and its partial
  // sums, not yet cleared.
  template <class Body>
  void for_each_chunk(void* workspace, const Body& body) const {
    for_each_part({.items = num_chunks_, .num_threads = num_threads_}, [&](const Part& chunks) {
      for (int64_t chunk = chunks.begin; chunk < chunks.end; ++chunk) {
        const Part rows{rows_ * chunk / num_chunks_, rows_ * (chunk + 1) / num_chunks_,
                        chunks.thread};
        body(rows, partial(workspace, chunk));
      }
    });
  }

  // target[i] = (accumulates ? target[i] : 0) + the partial sums first + i of all chunks.
  struct Target {
    float* target = nullptr;
    int64_t first = 0;
    int64_t count = 0;
    bool accumulates = false;
  };
  void finish(void* workspace, const Target& target) const;

 private:
  float* partial(void* workspace, int64_t chunk) const {
    return static_cast<float*>(workspace) + chunk * stride_;
  }

  int64_t rows_;
  int64_t stride_;  // floats from one chunk's sums to the next
  int64_t num_chunks_;
  int num_threads_;
};

}  // namespace cloze::backend::cpu
