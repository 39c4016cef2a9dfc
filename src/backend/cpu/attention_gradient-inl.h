// Pieces of attention's backward pass that its kernels share, compiled once per vector target.
#include "backend/cpu/attention.h"

#if defined(CLOZE_BACKEND_CPU_ATTENTION_GRADIENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CLOZE_BACKEND_CPU_ATTENTION_GRADIENT_INL_H_
#undef CLOZE_BACKEND_CPU_ATTENTION_GRADIENT_INL_H_
#else
#define CLOZE_BACKEND_CPU_ATTENTION_GRADIENT_INL_H_
#endif

#include <hwy/highway.h>

#include "backend/cpu/attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

template <typename T>
HWY_INLINE float DotOfRows(const T* a, const T* b, int64_t count) {
  const FloatTag d;
  return SumOfTerms(d, count, [&](int64_t i, auto part) HWY_ATTR {
    return hn::Mul(LoadFloats(d, a + i, part), LoadFloats(d, b + i, part));
  });
}

// One query: turns its scores into probabilities after dropout, and their gradient into that of the
// scores.
struct QueryRow {
  float factor = 0.0f;
  float log_sum_exp = 0.0f;
  float delta = 0.0f;
  int64_t length = 0;
  float* probabilities = nullptr;
  float* dscores = nullptr;
};

HWY_INLINE void DifferentiateRow(const QueryRow& row, const DropoutRow& dropout) {
  const FloatTag d;
  const FloatVector factor = hn::Set(d, row.factor);
  const FloatVector log_sum_exp = hn::Set(d, row.log_sum_exp);
  const FloatVector delta = hn::Set(d, row.delta);
  const auto differentiate = [&](int64_t i, auto part, FloatVector multiplier) HWY_ATTR {
    const FloatVector score = LoadFloats(d, row.probabilities + i, part);
    const FloatVector p = Exp(d, hn::MulSub(score, factor, log_sum_exp));
    const FloatVector dpd = LoadFloats(d, row.dscores + i, part);
    StoreFloats(d, hn::Mul(p, multiplier), row.probabilities + i, part);
    StoreFloats(d, hn::Mul(p, hn::MulSub(multiplier, dpd, delta)), row.dscores + i, part);
  };
  if (dropout.threshold > 0) {
    ForEachMultiplier(dropout, row.length, differentiate);
    return;
  }
  const FloatVector one = hn::Set(d, 1.0f);
  ForEachVector(d, row.length, [&](int64_t i, auto part) HWY_ATTR { differentiate(i, part, one); });
}

// Queries [first, first + rows) of a head; rows of both matrices lie `stride` apart.
struct GradientRows {
  int64_t first = 0;
  int64_t rows = 0;
  int64_t stride = 0;
  float* probabilities = nullptr;  // scores, without the factor
  float* dscores = nullptr;        // d of dropped probabilities
};

// Turns scores into probabilities after dropout, and their gradient into that of the scores,
// without the factor.
template <typename T>
HWY_INLINE void DifferentiateRows(const AttentionSizes& sizes, const AttentionGradientTensors& t,
                                  const AttentionHead& head, const GradientRows& r) {
  const int64_t slot = head.start + r.first;
  const T* dcontext = static_cast<const T*>(t.dcontext) + sizes.offset(slot, head.head);
  const T* context = static_cast<const T*>(t.context) + sizes.offset(slot, head.head);
  for (int64_t i = 0; i < r.rows; ++i) {
    QueryRow row{sizes.factor(), t.log_sum_exp[(slot + i) * sizes.N + head.head]};
    row.delta = DotOfRows(dcontext + i * sizes.H, context + i * sizes.H, sizes.D);
    row.length = head.length;
    row.probabilities = r.probabilities + i * r.stride;
    row.dscores = r.dscores + i * r.stride;
    DropoutRow dropout = head.dropout;
    dropout.row += static_cast<uint32_t>(r.first + i);
    DifferentiateRow(row, dropout);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();
#endif
