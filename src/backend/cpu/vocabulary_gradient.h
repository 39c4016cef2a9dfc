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

#include <cstddef>

#include "backend/cpu/vocabulary_block.h"

namespace cloze::backend::cpu {

class VocabularyGradient {
 public:
  explicit VocabularyGradient(const VocabularySizes& sizes) : sizes_(sizes) {}

  size_t workspace_bytes() const;
  void run(const VocabularyBlock& block) const;

 private:
  VocabularySizes sizes_;
};

}  // namespace cloze::backend::cpu
