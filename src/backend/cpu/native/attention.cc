// attention of bf16 where the processor multiplies bf16 itself (pair_product.h): as attention.cc,
// one head of one sequence at a time and a few queries at a time, but keys, values and, after the
// exponential, probabilities stay in bf16. Scores, their exponentials and all sums are f32.
#include "backend/cpu/attention.h"

#include "backend/cpu/kernels.h"
#include "backend/cpu/native/pair_packing.h"
#include "backend/cpu/native/pair_product.h"
#include "backend/cpu/part_kernel.h"
#include "base/bfloat16.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/native/attention.cc"
#include <hwy/foreach_target.h>

#include "backend/cpu/attention-inl.h"

#ifndef CLOZE_BACKEND_CPU_ATTENTION_NATIVE_ONCE_
#define CLOZE_BACKEND_CPU_ATTENTION_NATIVE_ONCE_
namespace cloze::backend::cpu {

// Work buffers of one head.
struct NativeAttentionBuffers {
  NativeAttentionBuffers(const AttentionSizes& sizes, void* scratch)
      : workspace(scratch),
        scores(workspace.take<float>(kPairProductRows * sizes.padded_length())),
        context(workspace.take<float>(kPairProductRows * sizes.padded_D())),
        queries(workspace.take<bfloat16>(kPairProductRows * sizes.padded_D())),
        probabilities(workspace.take<bfloat16>(kPairProductRows * sizes.padded_length())),
        keys(workspace.take<bfloat16>(sizes.padded_length() * sizes.padded_D())),
        values(workspace.take<bfloat16>(sizes.padded_length() * sizes.padded_D())) {}

  Workspace workspace;
  float* scores;            // [rows, padded length]
  float* context;           // [rows, padded D]
  bfloat16* queries;        // [rows, padded D]
  bfloat16* probabilities;  // [rows, padded length]
  bfloat16* keys;           // panels of k^T [padded D, padded length]
  bfloat16* values;         // panels of v [padded length, padded D]
};

}  // namespace cloze::backend::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

void attend_rows_natively(const AttentionSizes& sizes, const AttentionTensors& t,
                          const AttentionHead& head, const PairMultiplier& multiplier,
                          int64_t first) {
  const NativeAttentionBuffers buffers(sizes, head.scratch);
  const int64_t rows = HWY_MIN(kPairProductRows, head.length - first);
  const int64_t padded = whole_pair_steps(head.length);
  const int64_t offset = sizes.offset(head.start + first, head.head);
  const int64_t D = sizes.padded_D();
  pack_rows(HalfRows{static_cast<const bfloat16*>(t.q) + offset, sizes.H, rows, sizes.D},
            kPairProductRows, D, buffers.queries);
  multiplier.multiply(
      {kPairProductRows, padded, D, buffers.queries, D, buffers.keys, buffers.scores});
  float inverse_sums[kPairProductRows];
  ExponentiateRows<bfloat16>(sizes, t, head, {first, rows, padded, buffers.scores}, inverse_sums);
  pack_rows(FloatRows{buffers.scores, padded, rows, head.length}, kPairProductRows, padded,
            buffers.probabilities);
  multiplier.multiply({kPairProductRows, D, padded, buffers.probabilities, padded, buffers.values,
                       buffers.context});
  for (int64_t i = 0; i < rows; ++i) {
    StoreHeadRow(buffers.context + i * D, inverse_sums[i], sizes.D,
                 static_cast<bfloat16*>(t.context) + offset + i * sizes.H);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {

HWY_EXPORT(attend_rows_natively);

namespace {

class NativeAttention final : public Attention {
 public:
  explicit NativeAttention(const KernelRequest& request)
      : Attention(request, bytes_of_buffers<NativeAttentionBuffers>) {}

 private:
  void attend(const AttentionTensors& tensors, const AttentionHead& head) const override {
    const NativeAttentionBuffers buffers(sizes_, head.scratch);
    const int64_t offset = sizes_.offset(head.start, head.head);
    const int64_t padded = whole_pair_steps(head.length);
    const auto rows = [&](const void* tensor) {
      return HalfRows{static_cast<const bfloat16*>(tensor) + offset, sizes_.H, head.length,
                      sizes_.D};
    };
    pack_transposed_pairs(rows(tensors.k), {buffers.keys, padded, sizes_.padded_D()});
    pack_pairs(rows(tensors.v), {buffers.values, sizes_.padded_D(), padded});
    const PairMultiplier multiplier(pair_units());
    for (int64_t first = 0; first < head.length; first += kPairProductRows) {
      HWY_DYNAMIC_DISPATCH(attend_rows_natively)(sizes_, tensors, head, multiplier, first);
    }
  }
};

constexpr KernelRow kRows[] = {
    {&ops::kAttention, "native_bf16", refuse_unless_native_bf16, create_kernel<NativeAttention>},
};

}  // namespace

KernelTable native_attention_kernels() { return kRows; }

}  // namespace cloze::backend::cpu
#endif
