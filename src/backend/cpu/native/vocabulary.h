// NativeVocabulary: the products of vocabulary_loss where the processor multiplies bf16 itself
// (pair_product.h), one chunk of the vocabulary after the other:
//
//   logits  [chunk, R]  = table[chunk] x^T     with the softmax of the chunk right after
//   dtable  [chunk, H]  (+)= dlogits x
//   dx      [R, H]      += dlogits^T table[chunk]
//
// The table is rounded as its chunks are read, dlogits before they are multiplied. Slices as in
// vocabulary_gradient.h, so that the sums depend on the sizes alone.
#pragma once

#include <cstddef>

#include "backend/cpu/native/pair_product.h"
#include "backend/cpu/vocabulary_block.h"

namespace cloze::backend::cpu {

class NativeVocabulary {
 public:
  static constexpr int64_t kColumnStep = kPairStep;  // R is a multiple of this

  explicit NativeVocabulary(const VocabularySizes& sizes) : sizes_(sizes) {}

  size_t workspace_bytes() const;
  void compute_logits(const VocabularyBlock& block) const;
  void compute_gradients(const VocabularyBlock& block) const;

 private:
  VocabularySizes sizes_;
};

}  // namespace cloze::backend::cpu
