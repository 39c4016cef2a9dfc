// attention_gradient of bf16 where the processor multiplies bf16 itself (pair_product.h): as
// attention_gradient.cc, one head of one sequence at a time and a few queries at a time, but
// probabilities and d of scores, once they are computed in f32, are rounded for the products that
// follow. Sums over queries are accumulated transposed, as dk^T and dv^T: so probabilities and d of
// scores form panels of pairs of queries, and two of their rows make one as they are.
#include "backend/cpu/attention.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/native/pair_packing.h"
#include "backend/cpu/native/pair_product.h"
#include "backend/cpu/part_kernel.h"
#include "base/bfloat16.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/native/attention_gradient.cc"
#include <hwy/foreach_target.h>

#include "backend/cpu/attention_gradient-inl.h"

#ifndef CLOZE_BACKEND_CPU_ATTENTION_GRADIENT_NATIVE_ONCE_
#define CLOZE_BACKEND_CPU_ATTENTION_GRADIENT_NATIVE_ONCE_
namespace cloze::backend::cpu {

// Work buffers of one head. R: queries at a time; L: the padded length; D: padded too.
struct NativeGradientBuffers {
  NativeGradientBuffers(const AttentionSizes& sizes, void* scratch) : workspace(scratch) {
    const int64_t R = kMostNativeRows;
    const int64_t L = sizes.padded_length();
    const int64_t D = sizes.padded_D();
    for (bfloat16** of_keys : {&keys_by_depth, &values_by_depth, &keys}) {
      *of_keys = workspace.take<bfloat16>(L * D);
    }
    for (bfloat16** of_queries :
         {&queries, &dcontext, &pairs, &queries_by_depth, &dcontext_by_depth}) {
      *of_queries = workspace.take<bfloat16>(R * D);
    }
    for (bfloat16** of_scores : {&probability_pairs, &dscore_pairs, &dscore_rows}) {
      *of_scores = workspace.take<bfloat16>(R * L);
    }
    for (float** scores : {&probabilities, &dscores}) *scores = workspace.take<float>(R * L);
    dq = workspace.take<float>(R * D);
    for (float** by_depth : {&dk_by_depth, &dv_by_depth}) *by_depth = workspace.take<float>(L * D);
    columns = workspace.take<float>(L * kPairPanelColumns);
  }

  Workspace workspace;
  bfloat16* keys_by_depth;      // panels of k^T [D, L]
  bfloat16* values_by_depth;    // panels of v^T [D, L]
  bfloat16* keys;               // panels of k [L, D]
  bfloat16* queries;            // [R, D]
  bfloat16* dcontext;           // [R, D]
  bfloat16* pairs;              // panels of either [R, D]
  bfloat16* queries_by_depth;   // [D, R]
  bfloat16* dcontext_by_depth;  // [D, R]
  bfloat16* probability_pairs;  // panels [R, L]
  bfloat16* dscore_pairs;       // panels [R, L]
  bfloat16* dscore_rows;        // [R, L]
  float* probabilities;         // [R, L], scores at first
  float* dscores;               // [R, L], d of probabilities at first
  float* dq;                    // [R, D], without the factor
  float* dk_by_depth;           // [D, L], without the factor
  float* dv_by_depth;           // [D, L]
  float* columns;               // [L, 16] of dk or dv
};

}  // namespace cloze::backend::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

// Some queries of a head; `padded` rows of them in the buffers, zero after the last.
struct NativeQueries {
  int64_t first = 0;
  int64_t rows = 0;
  int64_t padded = 0;
};

HWY_INLINE HalfRows HeadRows(const AttentionSizes& sizes, const AttentionHead& head,
                             const void* tensor, int64_t first, int64_t rows) {
  const int64_t offset = sizes.offset(head.start + first, head.head);
  return {static_cast<const bfloat16*>(tensor) + offset, sizes.H, rows, sizes.D};
}

// probabilities and dscores of some queries. Where keys are padding the scores are 0 and stay so.
HWY_INLINE void DifferentiateScores(const AttentionSizes& sizes, const AttentionGradientTensors& t,
                                    const AttentionHead& head, const PairMultiplier& multiplier,
                                    const NativeQueries& q) {
  const NativeGradientBuffers buffers(sizes, head.scratch);
  const int64_t D = sizes.padded_D();
  const int64_t L = whole_pair_steps(head.length);
  pack_rows(HeadRows(sizes, head, t.q, q.first, q.rows), q.padded, D, buffers.queries);
  pack_rows(HeadRows(sizes, head, t.dcontext, q.first, q.rows), q.padded, D, buffers.dcontext);
  multiplier.multiply(
      {q.padded, L, D, buffers.queries, D, buffers.keys_by_depth, buffers.probabilities});
  multiplier.multiply(
      {q.padded, L, D, buffers.dcontext, D, buffers.values_by_depth, buffers.dscores});
  DifferentiateRows<bfloat16>(sizes, t, head,
                              {q.first, q.rows, L, buffers.probabilities, buffers.dscores});
}

// Transposes rows [R, D] to [D, R].
HWY_INLINE void TransposeQueries(const bfloat16* rows, const NativeQueries& q, int64_t D,
                                 bfloat16* pairs, bfloat16* to) {
  const PairPanels panels{pairs, D, q.padded};
  pack_pairs(HalfRows{rows, D, q.padded, D}, panels);
  transpose_panels(panels, kMostNativeRows, to);
}

// What some queries add to dk and dv, and their dq.
HWY_INLINE void DifferentiateQueries(const AttentionSizes& sizes, const AttentionGradientTensors& t,
                                     const AttentionHead& head, const PairMultiplier& multiplier,
                                     const NativeQueries& q) {
  const NativeGradientBuffers buffers(sizes, head.scratch);
  const int64_t D = sizes.padded_D();
  const int64_t L = whole_pair_steps(head.length);
  const bool is_later = q.first > 0;
  TransposeQueries(buffers.queries, q, D, buffers.pairs, buffers.queries_by_depth);
  TransposeQueries(buffers.dcontext, q, D, buffers.pairs, buffers.dcontext_by_depth);
  pack_pairs(FloatRows{buffers.probabilities, L, q.padded, L},
             {buffers.probability_pairs, L, q.padded});
  const FloatRows dscores{buffers.dscores, L, q.padded, L};
  pack_pairs(dscores, {buffers.dscore_pairs, L, q.padded});
  pack_rows(dscores, q.padded, L, buffers.dscore_rows);
  multiplier.multiply({D, L, q.padded, buffers.dcontext_by_depth, kMostNativeRows,
                       buffers.probability_pairs, buffers.dv_by_depth, is_later});
  multiplier.multiply({D, L, q.padded, buffers.queries_by_depth, kMostNativeRows,
                       buffers.dscore_pairs, buffers.dk_by_depth, is_later});
  multiplier.multiply({q.padded, D, L, buffers.dscore_rows, L, buffers.keys, buffers.dq});
  bfloat16* dq = static_cast<bfloat16*>(t.dq) + sizes.offset(head.start + q.first, head.head);
  for (int64_t i = 0; i < q.rows; ++i) {
    StoreHeadRow(buffers.dq + i * D, sizes.factor(), sizes.D, dq + i * sizes.H);
  }
}

// Stores [D, L] as the rows [length, D] of a head in a tensor.
HWY_INLINE void StoreByDepth(const AttentionSizes& sizes, const AttentionHead& head,
                             const float* by_depth, float factor, float* columns, void* tensor) {
  const int64_t L = whole_pair_steps(head.length);
  bfloat16* to = static_cast<bfloat16*>(tensor) + sizes.offset(head.start, head.head);
  for (int64_t j = 0; j < sizes.D; j += kPairPanelColumns) {
    const int64_t count = HWY_MIN(kPairPanelColumns, sizes.D - j);
    TransposeRows<kPairPanelColumns>(by_depth + j * L, L, head.length, count, columns);
    for (int64_t i = 0; i < head.length; ++i) {
      StoreHeadRow(columns + i * kPairPanelColumns, factor, count, to + i * sizes.H + j);
    }
  }
}

void differentiate_natively(const AttentionSizes& sizes, const AttentionGradientTensors& t,
                            const AttentionHead& head) {
  const NativeGradientBuffers buffers(sizes, head.scratch);
  const int64_t D = sizes.padded_D();
  const int64_t L = whole_pair_steps(head.length);
  const HalfRows keys = HeadRows(sizes, head, t.k, 0, head.length);
  pack_transposed_pairs(keys, {buffers.keys_by_depth, L, D});
  pack_transposed_pairs(HeadRows(sizes, head, t.v, 0, head.length),
                        {buffers.values_by_depth, L, D});
  pack_pairs(keys, {buffers.keys, D, L});
  const PairMultiplier multiplier(pair_units());
  // Ranges of the same number of whole steps.
  const int64_t ranges = divide_up(L, kMostNativeRows);
  const int64_t rows = divide_up(L / kPairStep, ranges) * kPairStep;
  for (int64_t first = 0; first < head.length; first += rows) {
    NativeQueries queries{first, HWY_MIN(rows, head.length - first)};
    queries.padded = whole_pair_steps(queries.rows);
    DifferentiateScores(sizes, t, head, multiplier, queries);
    DifferentiateQueries(sizes, t, head, multiplier, queries);
  }
  StoreByDepth(sizes, head, buffers.dk_by_depth, sizes.factor(), buffers.columns, t.dk);
  StoreByDepth(sizes, head, buffers.dv_by_depth, 1.0f, buffers.columns, t.dv);
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {

HWY_EXPORT(differentiate_natively);

namespace {

class NativeAttentionGradient final : public AttentionGradient {
 public:
  explicit NativeAttentionGradient(const KernelRequest& request)
      : AttentionGradient(request, bytes_of_buffers<NativeGradientBuffers>) {}

 private:
  void differentiate(const AttentionGradientTensors& tensors,
                     const AttentionHead& head) const override {
    HWY_DYNAMIC_DISPATCH(differentiate_natively)(sizes_, tensors, head);
  }
};

constexpr KernelRow kRows[] = {
    {&ops::kAttentionGradient, "native_bf16", refuse_unless_native_bf16,
     create_kernel<NativeAttentionGradient>},
};

}  // namespace

KernelTable native_attention_gradient_kernels() { return kRows; }

}  // namespace cloze::backend::cpu
#endif
