// Pieces of attention that its two passes share, compiled once per vector target.
#include "backend/cpu/attention.h"

#if defined(CLOZE_BACKEND_CPU_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CLOZE_BACKEND_CPU_ATTENTION_INL_H_
#undef CLOZE_BACKEND_CPU_ATTENTION_INL_H_
#else
#define CLOZE_BACKEND_CPU_ATTENTION_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>

#include "backend/cpu/dropout_mask-inl.h"
#include "backend/cpu/math-inl.h"
#include "backend/cpu/product_tile-inl.h"
#include "backend/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

static_assert(kPaddedExtent % kTileColumns == 0, "work buffers hold whole panels");

// C [rows, columns] (+)= A B, where A is in f32 rows and B in panels.
struct HeadProduct {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
  const float* a = nullptr;
  int64_t a_stride = 0;
  const float* b = nullptr;
  float* c = nullptr;
  int64_t c_stride = 0;
  bool accumulates = false;
};

// A [rows, depth].
HWY_INLINE void MultiplyHead(const HeadProduct& p) {
  MultiplyPanels<RowLayout::kByRow>(
      p.rows, p.columns,
      {p.depth, p.a, p.a_stride, p.a_stride, p.b, p.c, p.c_stride, p.accumulates});
}

// A is stored [depth, rows].
HWY_INLINE void MultiplyTransposedHead(const HeadProduct& p) {
  MultiplyPanels<RowLayout::kByDepth>(
      p.rows, p.columns, {p.depth, p.a, p.a_stride, 1, p.b, p.c, p.c_stride, p.accumulates});
}

struct SoftmaxRow {
  float sum = 0.0f;
  float log_sum_exp = 0.0f;
};

// Scores of one query become exp(factor * (score - largest)).
HWY_INLINE SoftmaxRow ExponentiateRow(float factor, int64_t length, float* row) {
  const FloatTag d;
  FloatVector largest0 = hn::Set(d, row[0]);
  FloatVector largest1 = largest0;
  int64_t i = 0;
  for (; i + 2 * kLanes <= length; i += 2 * kLanes) {
    largest0 = hn::Max(largest0, hn::LoadU(d, row + i));
    largest1 = hn::Max(largest1, hn::LoadU(d, row + i + kLanes));
  }
  float largest = hn::GetLane(hn::MaxOfLanes(d, hn::Max(largest0, largest1)));
  for (; i < length; ++i) largest = HWY_MAX(largest, row[i]);
  const FloatVector scale = hn::Set(d, factor);
  const FloatVector shift = hn::Set(d, -factor * largest);
  const float sum = SumOfTerms(d, length, [&](int64_t j, auto part) HWY_ATTR {
    const FloatVector e = Exp(d, hn::MulAdd(LoadFloats(d, row + j, part), scale, shift));
    StoreFloats(d, e, row + j, part);
    return Keep(d, e, part);
  });
  return {sum, factor * largest + std::log(sum)};
}

// Scores of queries [first, first + rows) of a head, which lie `stride` apart.
struct ScoreRows {
  int64_t first = 0;
  int64_t rows = 0;
  int64_t stride = 0;
  float* scores = nullptr;
};

// Turns scores into exponentials, with dropout; the factors that they still have to be multiplied
// by go to inverse_sums. Memory is idle meanwhile, so this prefetches the context rows of these
// queries and as many rows of the queries that follow.
template <typename T>
HWY_INLINE void ExponentiateRows(const AttentionSizes& sizes, const AttentionTensors& t,
                                 const AttentionHead& head, const ScoreRows& r,
                                 float* inverse_sums) {
  const T* context = static_cast<const T*>(t.context) + sizes.offset(head.start, head.head);
  const T* q = static_cast<const T*>(t.q) + sizes.offset(head.start, head.head);
  for (int64_t i = 0; i < r.rows; ++i) {
    float* row = r.scores + i * r.stride;
    const SoftmaxRow softmax = ExponentiateRow(sizes.factor(), head.length, row);
    inverse_sums[i] = 1.0f / softmax.sum;
    t.log_sum_exp[(head.start + r.first + i) * sizes.N + head.head] = softmax.log_sum_exp;
    FetchRow(context + (r.first + i) * sizes.H, sizes.D);
    FetchRow(q + (r.first + r.rows + i) * sizes.H, sizes.D);
    if (head.dropout.threshold == 0) continue;
    DropoutRow dropout = head.dropout;
    dropout.row += static_cast<uint32_t>(r.first + i);
    ApplyDropout(FloatTag(), dropout, head.length, row);
  }
}

// to[i] = from[i] * factor, for one row of a head.
template <typename T>
HWY_INLINE void StoreHeadRow(const float* from, float factor, int64_t columns, T* to) {
  const FloatTag d;
  const FloatVector f = hn::Set(d, factor);
  MapFloats(d, columns, from, to, [&](FloatVector v) HWY_ATTR { return hn::Mul(v, f); });
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();
#endif
