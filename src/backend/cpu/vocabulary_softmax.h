// VocabularySoftmax: softmax cross-entropy of a block of predictions whose logits are [V, R], one
// column for each prediction, so that vectors run over predictions and nothing is summed across.
//
// The logits come in chunks of rows, in any order, while they are still in the cache. A chunk c is
// turned into e = exp(logit - largest_c) at once, with its own largest_c and sum_c; so each logit
// sees one exp. combine() brings the chunks of a prediction together:
//
//   largest = max_c largest_c     others = sum_c sum_c exp(largest_c - largest)
//   sum = others + exp(logit[label] - largest)
//   loss = largest + log(sum) - logit[label]
//
// and apply_factors() makes the dlogits of a chunk from its e:
//   dlogit = e * scale exp(largest_c - largest) / sum,  of the label -scale others / sum
//
// The label's own exponential is kept out of sum_c, so that a label that is nearly certain loses
// no digits to 1 - p.
// Source of the chunked softmax: Milakov, Gimelshein, arXiv 1805.02867.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/product.h"
#include "backend/cpu/workspace.h"
#include "base/dtype.h"

namespace cloze::backend::cpu {

class VocabularySoftmax {
 public:
  static constexpr int64_t kChunkRows = 96;
  // Predictions of a block: enough to make up for reading the table and its gradient, few enough
  // that V of them stay in tens of megabytes.
  static constexpr int64_t kMostColumns = 256;

  // For at most `columns` predictions; the caller provides workspace_bytes() of memory.
  VocabularySoftmax(int64_t vocabulary, int64_t columns, void* workspace);
  static size_t workspace_bytes(int64_t vocabulary, int64_t columns) {
    return VocabularySoftmax(vocabulary, columns, nullptr).workspace_.bytes();
  }

  // Begins a block of predictions. labels [count]: -1 is ignored. bias [V] may be null.
  void begin(int64_t count, const int32_t* labels, const float* bias);

  // A chunk of logits without their bias, row: which chunk. Its values become e when `keeps`.
  void take_chunk(const ProductBlock& logits, bool keeps);

  struct Sums {
    double loss = 0.0;
    double correct = 0.0;
  };
  // Call it when all chunks are there. scale: what the gradient of each prediction's loss is
  // multiplied by. weights [count]: what each loss itself is multiplied by, and therefore its
  // gradient as well; null: 1.
  Sums combine(double scale, const float* weights);

  // Rows [row, row + rows) of the vocabulary, one chunk. In f32 dlogits may take the place of e.
  // Rounded ones go to memory that stays in the cache: e is then not written back.
  struct Chunk {
    const float* exponentials = nullptr;  // of the first row, as dlogits
    void* dlogits = nullptr;
    DType dtype = DType::kF32;  // of dlogits
    int64_t stride = 0;         // of both
    int64_t row = 0;
    int64_t rows = 0;
    float* dbias = nullptr;  // [V]; may be null
    bool adds_dbias = false;
  };
  void apply_factors(const Chunk& chunk) const;

 private:
  bool is_correct(int64_t column) const;
  template <class T>
  void put_label_gradients(const Chunk& chunk, T* dlogits) const;

  int64_t stride_ = 0;
  int64_t num_chunks_ = 0;
  Workspace workspace_;
  int64_t count_ = 0;
  const int32_t* labels_ = nullptr;
  const float* bias_ = nullptr;
  float* chunk_largest_ = nullptr;   // [chunks, columns]; factors after combine()
  float* chunk_sum_ = nullptr;       // [chunks, columns]
  float* largest_ = nullptr;         // [columns]
  float* factor_ = nullptr;          // [columns], scale / sum
  float* label_gradient_ = nullptr;  // [columns], the label's dlogit
  float* label_logit_ = nullptr;     // [columns]
  float* is_first_ = nullptr;        // [columns], 1 where the label is its chunk's first largest
};

}  // namespace cloze::backend::cpu
