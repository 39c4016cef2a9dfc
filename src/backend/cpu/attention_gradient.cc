// attention_gradient: one head of one sequence at a time. The probabilities are recomputed from the
// scores and log_sum_exp, a few queries at a time; dk and dv are summed over the queries in f32.

#include "backend/cpu/attention.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/storage.h"
#include "base/division.h"
#include "ops/attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/attention_gradient.cc"
#include <hwy/foreach_target.h>

#include "backend/cpu/attention_gradient-inl.h"

#ifndef CLOZE_BACKEND_CPU_ATTENTION_GRADIENT_ONCE_
#define CLOZE_BACKEND_CPU_ATTENTION_GRADIENT_ONCE_
namespace cloze::backend::cpu {

// Work buffers of one head, in f32. R: rows of queries at a time.
struct AttentionGradientBuffers {
  AttentionGradientBuffers(const AttentionSizes& sizes, void* scratch) : workspace(scratch) {
    const int64_t R = kMostGradientRows;
    const int64_t L = sizes.padded_length();
    const int64_t D = sizes.padded_D();
    for (float** of_keys : {&keys_by_depth, &values_by_depth, &keys, &dk, &dv}) {
      *of_keys = workspace.take<float>(L * D);
    }
    for (float** rows : {&queries, &dcontext, &query_panels, &dcontext_panels, &dq}) {
      *rows = workspace.take<float>(R * D);
    }
    for (float** scores : {&probabilities, &dscores}) *scores = workspace.take<float>(R * L);
  }

  Workspace workspace;
  float* keys_by_depth;    // panels of k^T [D, length]
  float* values_by_depth;  // panels of v^T [D, length]
  float* keys;             // panels of k [length, D]
  float* dk;               // [length, padded D], without the factor
  float* dv;               // [length, padded D]
  float* queries;          // [R, D]
  float* dcontext;         // [R, D]
  float* query_panels;     // panels of q [R, D]
  float* dcontext_panels;  // panels of dcontext [R, D]
  float* dq;               // [R, padded D], without the factor
  float* probabilities;    // [R, padded length], scores at first
  float* dscores;          // [R, padded length], d probabilities at first
};

}  // namespace cloze::backend::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

// The queries [first, first + rows) of a head.
struct QueryRange {
  int64_t first = 0;
  int64_t rows = 0;
};

// Rows of one head [rows, D] of a tensor [T, H], as f32 one after the other.
template <typename T>
HWY_INLINE void CopyHead(const AttentionSizes& sizes, const T* from, int64_t rows, float* to) {
  for (int64_t i = 0; i < rows; ++i) CopyFloats(from + i * sizes.H, sizes.D, to + i * sizes.D);
}

// probabilities and dscores of some queries.
template <typename T>
HWY_INLINE void DifferentiateScores(const AttentionSizes& sizes, const AttentionGradientTensors& t,
                                    const AttentionHead& head, const QueryRange& range) {
  const AttentionGradientBuffers buffers(sizes, head.scratch);
  const int64_t D = sizes.D;
  const int64_t padded = round_up(head.length, kTileColumns);
  const int64_t offset = sizes.offset(head.start + range.first, head.head);
  CopyHead(sizes, static_cast<const T*>(t.q) + offset, range.rows, buffers.queries);
  CopyHead(sizes, static_cast<const T*>(t.dcontext) + offset, range.rows, buffers.dcontext);
  MultiplyHead({range.rows, padded, D, buffers.queries, D, buffers.keys_by_depth,
                buffers.probabilities, padded});
  MultiplyHead({range.rows, padded, D, buffers.dcontext, D, buffers.values_by_depth,
                buffers.dscores, padded});
  DifferentiateRows<T>(sizes, t, head,
                       {range.first, range.rows, padded, buffers.probabilities, buffers.dscores});
}

// What some queries add to dk and dv, and their dq.
template <typename T>
HWY_INLINE void DifferentiateQueries(const AttentionSizes& sizes, const AttentionGradientTensors& t,
                                     const AttentionHead& head, const QueryRange& range) {
  const AttentionGradientBuffers buffers(sizes, head.scratch);
  const int64_t D = sizes.D;
  const int64_t L = head.length;
  const int64_t padded = round_up(L, kTileColumns);
  const int64_t width = round_up(D, kTileColumns);
  const bool is_later = range.first > 0;
  PackPanels(buffers.queries, D, range.rows, D, buffers.query_panels);
  PackPanels(buffers.dcontext, D, range.rows, D, buffers.dcontext_panels);
  MultiplyTransposedHead({L, width, range.rows, buffers.probabilities, padded,
                          buffers.dcontext_panels, buffers.dv, width, is_later});
  MultiplyTransposedHead({L, width, range.rows, buffers.dscores, padded, buffers.query_panels,
                          buffers.dk, width, is_later});
  MultiplyHead({range.rows, width, L, buffers.dscores, padded, buffers.keys, buffers.dq, width});
  T* dq = static_cast<T*>(t.dq) + sizes.offset(head.start + range.first, head.head);
  for (int64_t i = 0; i < range.rows; ++i) {
    StoreHeadRow(buffers.dq + i * width, sizes.factor(), D, dq + i * sizes.H);
  }
}

// Queries at a time: whole tiles, the same number for every range, and no more than the buffers
// have rows.
HWY_INLINE int64_t RangeRows(int64_t length) {
  constexpr int64_t kMostRows = kMostGradientRows / kTileRows * kTileRows;
  static_assert(kMostRows > 0, "a tile does not fit into the buffers");
  const int64_t tiles = divide_up(length, kTileRows);
  const int64_t ranges = divide_up(length, kMostRows);
  return divide_up(tiles, ranges) * kTileRows;
}

template <typename T>
void DifferentiateHead(const AttentionSizes& sizes, const AttentionGradientTensors& t,
                       const AttentionHead& head) {
  const AttentionGradientBuffers buffers(sizes, head.scratch);
  const int64_t L = head.length;
  const int64_t offset = sizes.offset(head.start, head.head);
  const T* k = static_cast<const T*>(t.k) + offset;
  PackTransposedPanels(k, sizes.H, sizes.D, L, buffers.keys_by_depth);
  PackTransposedPanels(static_cast<const T*>(t.v) + offset, sizes.H, sizes.D, L,
                       buffers.values_by_depth);
  PackPanels(k, sizes.H, L, sizes.D, buffers.keys);
  const int64_t rows = RangeRows(L);
  for (int64_t i = 0; i < L; i += rows) {
    const QueryRange range{i, HWY_MIN(rows, L - i)};
    DifferentiateScores<T>(sizes, t, head, range);
    DifferentiateQueries<T>(sizes, t, head, range);
  }
  const int64_t width = round_up(sizes.D, kTileColumns);
  for (int64_t i = 0; i < L; ++i) {
    const int64_t row = offset + i * sizes.H;
    StoreHeadRow(buffers.dk + i * width, sizes.factor(), sizes.D, static_cast<T*>(t.dk) + row);
    StoreHeadRow(buffers.dv + i * width, 1.0f, sizes.D, static_cast<T*>(t.dv) + row);
  }
}

void differentiate_head(const AttentionSizes& sizes, const AttentionGradientTensors& t,
                        const AttentionHead& head) {
  with_storage(sizes.dtype,
               [&]<class T>(Storage<T>) HWY_ATTR { DifferentiateHead<T>(sizes, t, head); });
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {

HWY_EXPORT(differentiate_head);

void AttentionGradient::run(const KernelArguments& arguments, Stream&) {
  const AttentionGradientTensors tensors{.dcontext = arguments.input<void>(kDcontext),
                                         .q = arguments.input<void>(kQ),
                                         .k = arguments.input<void>(kK),
                                         .v = arguments.input<void>(kV),
                                         .context = arguments.input<void>(kContext),
                                         .log_sum_exp = arguments.input<float>(kLogSumExp),
                                         .dq = arguments.output<void>(kDq),
                                         .dk = arguments.output<void>(kDk),
                                         .dv = arguments.output<void>(kDv)};
  for_each_head(arguments, [&](const AttentionHead& head) { differentiate(tensors, head); });
  for (void* gradient : {tensors.dq, tensors.dk, tensors.dv}) clear_unused(arguments, gradient);
}

namespace {

class VectorAttentionGradient final : public AttentionGradient {
 public:
  explicit VectorAttentionGradient(const KernelRequest& request)
      : AttentionGradient(request, bytes_of_buffers<AttentionGradientBuffers>) {}

 private:
  void differentiate(const AttentionGradientTensors& tensors,
                     const AttentionHead& head) const override {
    HWY_DYNAMIC_DISPATCH(differentiate_head)(sizes_, tensors, head);
  }
};

constexpr KernelRow kRows[] = {
    {&ops::kAttentionGradient, "vector", refuse_other_storage,
     create_kernel<VectorAttentionGradient>},
};

}  // namespace

KernelTable attention_gradient_kernels() { return kRows; }

}  // namespace cloze::backend::cpu
#endif
