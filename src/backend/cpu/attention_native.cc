// attention of bf16 where the processor multiplies bf16 itself (pair_product.h): as attention.cc,
// one head of one sequence at a time and a few queries at a time, but keys, values and, after the
// exponential, probabilities stay in bf16. Scores, their exponentials and all sums are f32.
#include "backend/cpu/attention.h"

#include <algorithm>

#include "backend/cpu/kernels.h"
#include "backend/cpu/pair_product.h"
#include "backend/cpu/part_kernel.h"
#include "base/bfloat16.h"
#include "ops/attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/attention_native.cc"
#include <hwy/foreach_target.h>

#include "backend/cpu/attention-inl.h"

#ifndef CLOZE_BACKEND_CPU_ATTENTION_NATIVE_ONCE_
#define CLOZE_BACKEND_CPU_ATTENTION_NATIVE_ONCE_
namespace cloze::backend::cpu {

static_assert(kPairStep == 32, "padded_T() and padded_D() are multiples of it");

struct NativeAttentionTensors {
  const bfloat16* q = nullptr;
  const bfloat16* k = nullptr;
  const bfloat16* v = nullptr;
  bfloat16* context = nullptr;
  float* log_sum_exp = nullptr;
};

// Work buffers of one head.
struct NativeAttentionBuffers {
  NativeAttentionBuffers(const AttentionSizes& sizes, float* scratch)
      : scores(scratch),
        context(scores + kPairProductRows * sizes.padded_T()),
        queries(reinterpret_cast<bfloat16*>(context + kPairProductRows * sizes.padded_D())),
        probabilities(queries + kPairProductRows * sizes.padded_D()),
        keys(probabilities + kPairProductRows * sizes.padded_T()),
        values(keys + sizes.padded_T() * sizes.padded_D()) {}
  static int64_t floats(const AttentionSizes& sizes) {
    const int64_t rows = kPairProductRows * (sizes.padded_T() + sizes.padded_D());
    return rows + rows / 2 + sizes.padded_T() * sizes.padded_D();
  }

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

// Rows [rows, width] as rows of `padded` elements, zero behind the width.
HWY_INLINE void CopyPadded(const PairRows& from, int64_t padded, bfloat16* to) {
  for (int64_t i = 0; i < from.count; ++i, to += padded) {
    const bfloat16* row = from.rows + i * from.stride;
    std::copy(row, row + from.width, to);
    std::fill(to + from.width, to + padded, bfloat16());
  }
}

void attend_rows_natively(const AttentionSizes& sizes, const NativeAttentionTensors& t,
                          const AttentionHead& head, const PairMultiplier& multiplier,
                          int64_t first) {
  const NativeAttentionBuffers buffers(sizes, head.scratch);
  const int64_t rows = HWY_MIN(kPairProductRows, head.length - first);
  const int64_t padded = (head.length + kPairStep - 1) / kPairStep * kPairStep;
  const int64_t offset = sizes.offset(head.start + first, head.head);
  const float factor = 1.0f / std::sqrt(static_cast<float>(sizes.D));
  CopyPadded({t.q + offset, sizes.H, rows, sizes.D}, sizes.padded_D(), buffers.queries);
  multiplier.multiply({padded, sizes.padded_D(), buffers.queries, buffers.keys, buffers.scores});
  float inverse_sums[kPairProductRows];
  for (int64_t i = 0; i < rows; ++i) {
    float* row = buffers.scores + i * padded;
    const SoftmaxRow softmax = ExponentiateRow(factor, head.length, row);
    inverse_sums[i] = 1.0f / softmax.sum;
    t.log_sum_exp[(head.start + first + i) * sizes.N + head.head] = softmax.log_sum_exp;
    if (head.dropout.threshold != 0) {
      DropoutRow dropout = head.dropout;
      dropout.row += static_cast<uint32_t>(first + i);
      ApplyDropout(FloatTag(), dropout, head.length, row);
    }
    bfloat16* probabilities = buffers.probabilities + i * padded;
    MapFloats(FloatTag(), head.length, row, probabilities,
              [](FloatVector v) HWY_ATTR { return v; });
    std::fill(probabilities + head.length, probabilities + padded, bfloat16());
  }
  multiplier.multiply(
      {sizes.padded_D(), padded, buffers.probabilities, buffers.values, buffers.context});
  for (int64_t i = 0; i < rows; ++i) {
    StoreHeadRow(buffers.context + i * sizes.padded_D(), inverse_sums[i], sizes.D,
                 t.context + offset + i * sizes.H);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {

HWY_EXPORT(attend_rows_natively);

namespace {

void attend_head_natively(const AttentionSizes& sizes, const NativeAttentionTensors& t,
                          const AttentionHead& head) {
  const NativeAttentionBuffers buffers(sizes, head.scratch);
  const int64_t padded = divide_up(head.length, kPairStep) * kPairStep;
  const int64_t offset = sizes.offset(head.start, head.head);
  pack_transposed_pairs({t.k + offset, sizes.H, head.length, sizes.D}, padded, sizes.padded_D(),
                        buffers.keys);
  pack_pairs({t.v + offset, sizes.H, head.length, sizes.D}, sizes.padded_D(), padded,
             buffers.values);
  const PairMultiplier multiplier(pair_units());
  for (int64_t first = 0; first < head.length; first += kPairProductRows) {
    HWY_DYNAMIC_DISPATCH(attend_rows_natively)(sizes, t, head, multiplier, first);
  }
}

class NativeAttention final : public Kernel {
 public:
  explicit NativeAttention(const KernelRequest& request)
      : attributes_(request.attributes_as<ops::AttentionAttributes>()), sizes_(request, 0, 3) {}

  size_t workspace_bytes() const override {
    return static_cast<size_t>(NativeAttentionBuffers::floats(sizes_) * sizes_.num_threads) *
           sizeof(float);
  }

  void run(const KernelArguments& arguments) override {
    const NativeAttentionTensors tensors{arguments.input<bfloat16>(0), arguments.input<bfloat16>(1),
                                         arguments.input<bfloat16>(2),
                                         arguments.output<bfloat16>(0), arguments.output<float>(1)};
    AttentionRun run{arguments.input<int32_t>(3), arguments.input<int32_t>(4)};
    run.dropout = dropout_row(attributes_.rate, attributes_.site, arguments.input<int32_t>(5));
    run.workspace = static_cast<float*>(arguments.workspace);
    run.scratch_floats = NativeAttentionBuffers::floats(sizes_);
    for_each_head(sizes_, run,
                  [&](const AttentionHead& head) { attend_head_natively(sizes_, tensors, head); });
    clear_unused(sizes_, run, tensors.context, tensors.log_sum_exp);
  }

 private:
  ops::AttentionAttributes attributes_;
  AttentionSizes sizes_;
};

}  // namespace

constinit const KernelEntry kNativeAttentionEntry{
    "cpu/attention/native_bf16", refuse_unless_native_bf16, create_kernel<NativeAttention>};

}  // namespace cloze::backend::cpu
#endif
