#include "backend/cpu/vocabulary_softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/cpu/parallel.h"
#include "backend/cpu/product_plan.h"
#include "backend/cpu/storage.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/vocabulary_softmax.cc"
#include <hwy/foreach_target.h>

#include "backend/cpu/math-inl.h"
#include "backend/cpu/vector-inl.h"

#ifndef CLOZE_BACKEND_CPU_VOCABULARY_SOFTMAX_ONCE_
#define CLOZE_BACKEND_CPU_VOCABULARY_SOFTMAX_ONCE_
namespace cloze::backend::cpu {

// A chunk, and where its results for the same columns go.
struct SoftmaxChunk {
  ProductBlock logits;
  const float* bias = nullptr;  // of the chunk's first row; may be null
  float* largest = nullptr;
  float* sum = nullptr;
};

// A row of e, and where its dlogits go.
struct SoftmaxRow {
  const float* exponentials = nullptr;
  const float* factor = nullptr;         // of the chunk
  const float* column_factor = nullptr;  // of all chunks
  int64_t columns = 0;
  void* dlogits = nullptr;
  DType dtype = DType::kF32;
};

// The chunks of a few columns.
struct ChunkColumns {
  int64_t chunks = 0;
  int64_t stride = 0;
  int64_t columns = 0;
  float* chunk_largest = nullptr;
  const float* chunk_sum = nullptr;
  const float* largest = nullptr;
  float* sum = nullptr;
};

}  // namespace cloze::backend::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

HWY_INLINE float bias_of(const SoftmaxChunk& chunk, int64_t row) {
  return chunk.bias == nullptr ? 0.0f : chunk.bias[row];
}

void find_largest(const SoftmaxChunk& chunk) {
  const FloatTag d;
  const ProductBlock& logits = chunk.logits;
  for (int64_t i = 0; i < logits.rows; ++i) {
    const float* row = logits.values + i * logits.stride;
    const FloatVector bias = hn::Set(d, bias_of(chunk, i));
    ForEachVector(d, logits.columns, [&](int64_t j, auto part) HWY_ATTR {
      FloatVector v = hn::Add(LoadFloats(d, row + j, part), bias);
      if (i > 0) v = hn::Max(v, LoadFloats(d, chunk.largest + j, part));
      StoreFloats(d, v, chunk.largest + j, part);
    });
  }
}

void sum_exponentials(const SoftmaxChunk& chunk, bool keeps) {
  const FloatTag d;
  const ProductBlock& logits = chunk.logits;
  std::fill(chunk.sum, chunk.sum + logits.columns, 0.0f);
  for (int64_t i = 0; i < logits.rows; ++i) {
    float* row = logits.values + i * logits.stride;
    const FloatVector bias = hn::Set(d, bias_of(chunk, i));
    ForEachVector(d, logits.columns, [&](int64_t j, auto part) HWY_ATTR {
      const FloatVector largest = LoadFloats(d, chunk.largest + j, part);
      const FloatVector shift = hn::Sub(bias, largest);
      const FloatVector e = Exp(d, hn::Add(LoadFloats(d, row + j, part), shift));
      if (keeps) StoreFloats(d, e, row + j, part);
      const FloatVector sum = LoadFloats(d, chunk.sum + j, part);
      StoreFloats(d, hn::Add(sum, e), chunk.sum + j, part);
    });
  }
}

// The sum of each column relative to its largest logit; chunk_largest becomes exp(chunk_largest -
// largest).
void combine_columns(const ChunkColumns& in) {
  const FloatTag d;
  ForEachVector(d, in.columns, [&](int64_t j, auto part) HWY_ATTR {
    const FloatVector largest = LoadFloats(d, in.largest + j, part);
    FloatVector sum = hn::Zero(d);
    for (int64_t c = 0; c < in.chunks; ++c) {
      float* chunk_largest = in.chunk_largest + c * in.stride + j;
      const FloatVector factor = Exp(d, hn::Sub(LoadFloats(d, chunk_largest, part), largest));
      sum = hn::MulAdd(factor, LoadFloats(d, in.chunk_sum + c * in.stride + j, part), sum);
      StoreFloats(d, factor, chunk_largest, part);
    }
    StoreFloats(d, sum, in.sum + j, part);
  });
}

// dlogits[j] = exponentials[j] * factor[j] * column_factor[j]; returns their sum before rounding.
float scale_row(const SoftmaxRow& row) {
  const FloatTag d;
  return with_storage(row.dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    return SumOfTerms(d, row.columns, [&](int64_t j, auto part) HWY_ATTR {
      const FloatVector f =
          hn::Mul(LoadFloats(d, row.factor + j, part), LoadFloats(d, row.column_factor + j, part));
      const FloatVector v = hn::Mul(LoadFloats(d, row.exponentials + j, part), f);
      StoreFloats(d, v, static_cast<T*>(row.dlogits) + j, part);
      return v;
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {

HWY_EXPORT(find_largest);
HWY_EXPORT(sum_exponentials);
HWY_EXPORT(combine_columns);
HWY_EXPORT(scale_row);

VocabularySoftmax::VocabularySoftmax(int64_t vocabulary, int64_t columns, void* workspace)
    : stride_(columns), num_chunks_(divide_up(vocabulary, kChunkRows)), workspace_(workspace) {
  for (float** of_chunks : {&chunk_largest_, &chunk_sum_}) {
    *of_chunks = workspace_.take<float>(num_chunks_ * columns);
  }
  for (float** row : {&largest_, &factor_, &label_gradient_, &label_logit_, &is_first_}) {
    *row = workspace_.take<float>(columns);
  }
}

void VocabularySoftmax::begin(int64_t count, const int32_t* labels, const float* bias) {
  count_ = count;
  labels_ = labels;
  bias_ = bias;
}

void VocabularySoftmax::take_chunk(const ProductBlock& logits, bool keeps) {
  const int64_t offset = logits.row / kChunkRows * stride_ + logits.column;
  SoftmaxChunk chunk{logits, bias_ == nullptr ? nullptr : bias_ + logits.row};
  chunk.largest = chunk_largest_ + offset;
  chunk.sum = chunk_sum_ + offset;
  HWY_DYNAMIC_DISPATCH(find_largest)(chunk);
  for (int64_t j = 0; j < logits.columns; ++j) {
    const int64_t row = labels_[logits.column + j] - logits.row;
    if (row < 0 || row >= logits.rows) continue;
    const auto logit = [&](int64_t i) {
      return logits.values[i * logits.stride + j] + (chunk.bias == nullptr ? 0.0f : chunk.bias[i]);
    };
    bool is_first = logit(row) == chunk.largest[j];
    for (int64_t i = 0; is_first && i < row; ++i) is_first = logit(i) < chunk.largest[j];
    label_logit_[logits.column + j] = logit(row);
    is_first_[logits.column + j] = is_first ? 1.0f : 0.0f;
    logits.values[row * logits.stride + j] = -std::numeric_limits<float>::infinity();
  }
  HWY_DYNAMIC_DISPATCH(sum_exponentials)(chunk, keeps);
}

// Whether the label is the largest logit of its column and no earlier one is as large.
bool VocabularySoftmax::is_correct(int64_t column) const {
  if (is_first_[column] == 0.0f || label_logit_[column] != largest_[column]) return false;
  for (int64_t c = 0; c < labels_[column] / kChunkRows; ++c) {
    if (chunk_largest_[c * stride_ + column] == largest_[column]) return false;
  }
  return true;
}

VocabularySoftmax::Sums VocabularySoftmax::combine(double scale, const float* weights) {
  std::copy_n(chunk_largest_, count_, largest_);
  for (int64_t c = 1; c < num_chunks_; ++c) {
    const float* chunk = chunk_largest_ + c * stride_;
    for (int64_t j = 0; j < count_; ++j) largest_[j] = std::max(largest_[j], chunk[j]);
  }
  Sums sums;
  for (int64_t j = 0; j < count_; ++j) {
    if (labels_[j] >= 0 && is_correct(j)) sums.correct += 1.0;
  }
  ChunkColumns columns{num_chunks_, stride_, count_, chunk_largest_, chunk_sum_, largest_, factor_};
  HWY_DYNAMIC_DISPATCH(combine_columns)(columns);
  for (int64_t j = 0; j < count_; ++j) {
    if (labels_[j] < 0) {
      factor_[j] = 0.0f;
      continue;
    }
    const double others = factor_[j];
    const double below = static_cast<double>(largest_[j]) - label_logit_[j];
    const double label = std::exp(-below);
    const double weight = weights == nullptr ? 1.0 : weights[j];
    sums.loss += weight * (below + std::log1p(others + (label - 1.0)));
    factor_[j] = static_cast<float>(weight * scale / (others + label));
    label_gradient_[j] = static_cast<float>(-weight * scale * others / (others + label));
  }
  return sums;
}

void VocabularySoftmax::apply_factors(const Chunk& chunk) const {
  SoftmaxRow row{chunk.exponentials, chunk_largest_ + chunk.row / kChunkRows * stride_, factor_};
  row.columns = count_;
  row.dtype = chunk.dtype;
  for (int64_t i = 0; i < chunk.rows; ++i, row.exponentials += chunk.stride) {
    row.dlogits = element(chunk.dlogits, chunk.dtype, i * chunk.stride);
    const float sum = HWY_DYNAMIC_DISPATCH(scale_row)(row);
    if (chunk.dbias == nullptr) continue;
    float* dbias = chunk.dbias + chunk.row + i;
    *dbias = chunk.adds_dbias ? *dbias + sum : sum;
  }
  with_storage(chunk.dtype, [&]<class T>(Storage<T>) {
    put_label_gradients(chunk, static_cast<T*>(chunk.dlogits));
  });
}

template <class T>
void VocabularySoftmax::put_label_gradients(const Chunk& chunk, T* dlogits) const {
  for (int64_t j = 0; j < count_; ++j) {
    const int64_t row = labels_[j] - chunk.row;
    if (labels_[j] < 0 || row < 0 || row >= chunk.rows) continue;
    dlogits[row * chunk.stride + j] = T(label_gradient_[j]);
    if (chunk.dbias != nullptr) chunk.dbias[labels_[j]] += label_gradient_[j];
  }
}

}  // namespace cloze::backend::cpu
#endif
