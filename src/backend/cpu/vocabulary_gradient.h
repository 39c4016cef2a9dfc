// VocabularyGradient: both gradients of vocabulary_loss for a block of predictions, from the
// exponentials of its softmax, one chunk of the vocabulary after the other while it is in the cache:
//
//   dlogits [chunk, R]  are made from the exponentials, in place
//   dtable  [chunk, H]  (+)= dlogits x
//   dx      [R, H]      += dlogits^T table[chunk]
//
// The chunks fall into slices that are summed on their own and brought together in their order, so
// that the sums depend on the sizes alone: same bytes for any number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "backend/cpu/parallel.h"
#include "backend/cpu/vocabulary_softmax.h"
#include "base/dtype.h"

namespace cloze::backend::cpu {

class VocabularyGradient {
 public:
  // More slices occupy more threads; each has dx [R, H] of its own.
  static constexpr int64_t kMostSlices = 32;

  struct Sizes {
    int64_t vocabulary = 0;
    int64_t columns = 0;        // most predictions of a block, and the stride of the exponentials
    int64_t width = 0;          // H
    DType dtype = DType::kF32;  // of x and dx
    int num_threads = 1;

    int64_t chunks() const { return divide_up(vocabulary, VocabularySoftmax::kChunkRows); }
    int64_t slices() const { return std::min(chunks(), kMostSlices); }
  };
  explicit VocabularyGradient(const Sizes& sizes) : sizes_(sizes) {}

  size_t workspace_bytes() const;

  struct Call {
    int64_t count = 0;  // predictions
    const VocabularySoftmax* softmax = nullptr;
    float* exponentials = nullptr;  // [V, columns]; dlogits afterwards
    const void* x = nullptr;        // [count, H]
    const float* table = nullptr;   // [V, H], counts as rounded to dtype
    void* dx = nullptr;             // [count, H]
    float* dtable = nullptr;        // [V, H]
    float* dbias = nullptr;         // [V]; may be null
    bool adds_dtable = false;
    bool adds_dbias = false;
    void* workspace = nullptr;
  };
  void run(const Call& call) const;

 private:
  Sizes sizes_;
};

}  // namespace cloze::backend::cpu
