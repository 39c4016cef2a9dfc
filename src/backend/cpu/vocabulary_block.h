// What the products of vocabulary_loss take: sizes, and the tensors of a block of predictions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/cpu/parallel.h"
#include "backend/cpu/vocabulary_softmax.h"
#include "base/dtype.h"

namespace cloze::backend::cpu {

struct VocabularySizes {
  // More slices occupy more threads; each has dx [R, H] of its own.
  static constexpr int64_t kMostSlices = 32;

  int64_t vocabulary = 0;
  int64_t columns = 0;        // R: most predictions of a block
  int64_t width = 0;          // H
  DType dtype = DType::kF32;  // of x and dx
  bool has_gradient = false;
  int num_threads = 1;

  int64_t chunks() const { return divide_up(vocabulary, VocabularySoftmax::kChunkRows); }
  int64_t slices() const { return std::min(chunks(), kMostSlices); }
  // Whole chunks [., R].
  int64_t logits_floats() const { return chunks() * VocabularySoftmax::kChunkRows * columns; }
  // Of one chunk.
  int64_t rows(int64_t chunk) const {
    return std::min(VocabularySoftmax::kChunkRows,
                    vocabulary - chunk * VocabularySoftmax::kChunkRows);
  }
};

struct VocabularyBlock {
  int64_t count = 0;  // predictions
  VocabularySoftmax* softmax = nullptr;
  // Later holds exponentials, and then dlogits where these are not rounded. Null without a
  // gradient.
  float* logits = nullptr;
  const void* x = nullptr;       // [count, H]
  const float* table = nullptr;  // [V, H], counts as rounded to dtype
  void* dx = nullptr;            // [count, H]
  float* dtable = nullptr;       // [V, H]
  float* dbias = nullptr;        // [V]; may be null
  bool adds_dtable = false;
  bool adds_dbias = false;
  void* workspace = nullptr;
};

// dx of a block, separately for each slice: rows of floats, `stride` apart.
struct VocabularySlices {
  const float* first = nullptr;
  int64_t slice_floats = 0;
  int64_t stride = 0;
};
// dx = the sum of all slices, in their order.
void add_slices(const VocabularySizes& sizes, const VocabularySlices& slices,
                const VocabularyBlock& block);

}  // namespace cloze::backend::cpu
