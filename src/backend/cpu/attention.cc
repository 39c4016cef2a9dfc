// attention: one head of one sequence at a time, its keys and values packed once, its queries a few
// rows at a time, so that scores never leave the cache.
#include "backend/cpu/attention.h"

#include <algorithm>

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/storage.h"
#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/attention.cc"
#include <hwy/foreach_target.h>

#include "backend/cpu/attention-inl.h"

#ifndef CLOZE_BACKEND_CPU_ATTENTION_ONCE_
#define CLOZE_BACKEND_CPU_ATTENTION_ONCE_
namespace cloze::backend::cpu {

// Work buffers of one head, in f32.
struct AttentionBuffers {
  AttentionBuffers(const AttentionSizes& sizes, void* scratch)
      : workspace(scratch),
        keys(workspace.take<float>(sizes.D * sizes.padded_length())),
        values(workspace.take<float>(sizes.padded_length() * sizes.padded_D())),
        queries(workspace.take<float>(kQueryRows * sizes.D)),
        scores(workspace.take<float>(kQueryRows * sizes.padded_length())),
        context(workspace.take<float>(kQueryRows * sizes.padded_D())) {}

  Workspace workspace;
  float* keys;     // panels of k^T [D, length]
  float* values;   // panels of v [length, D]
  float* queries;  // tiles of rows [D, tile rows]
  float* scores;   // [rows, padded length]
  float* context;  // [rows, padded D]
};

}  // namespace cloze::backend::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

static_assert(kQueryRows % kTileRows == 0);

template <typename T>
void AttendRows(const AttentionSizes& sizes, const AttentionTensors& t, const AttentionHead& head,
                int64_t first, int64_t rows) {
  const AttentionBuffers buffers(sizes, head.scratch);
  const int64_t padded = round_up(head.length, kTileColumns);
  const int64_t offset = sizes.offset(head.start + first, head.head);
  PackTiles(static_cast<const T*>(t.q) + offset, sizes.H, sizes.D, rows, buffers.queries);
  MultiplyPanels<RowLayout::kByDepth>(
      rows, padded,
      {sizes.D, buffers.queries, kTileRows, sizes.D, buffers.keys, buffers.scores, padded});
  float inverse_sums[kQueryRows];
  ExponentiateRows<T>(sizes, t, head, {first, rows, padded, buffers.scores}, inverse_sums);
  const int64_t context_stride = round_up(sizes.D, kTileColumns);
  MultiplyHead({rows, context_stride, head.length, buffers.scores, padded, buffers.values,
                buffers.context, context_stride});
  for (int64_t i = 0; i < rows; ++i) {
    StoreHeadRow(buffers.context + i * context_stride, inverse_sums[i], sizes.D,
                 static_cast<T*>(t.context) + offset + i * sizes.H);
  }
}

template <typename T>
void AttendHead(const AttentionSizes& sizes, const AttentionTensors& t, const AttentionHead& head) {
  const AttentionBuffers buffers(sizes, head.scratch);
  const int64_t offset = sizes.offset(head.start, head.head);
  const T* k = static_cast<const T*>(t.k) + offset;
  const T* v = static_cast<const T*>(t.v) + offset;
  PackTransposedPanels(k, sizes.H, sizes.D, head.length, buffers.keys);
  PackPanels(v, sizes.H, head.length, sizes.D, buffers.values);
  for (int64_t i = 0; i < head.length; i += kQueryRows) {
    AttendRows<T>(sizes, t, head, i, HWY_MIN(kQueryRows, head.length - i));
  }
}

void attend_head(const AttentionSizes& sizes, const AttentionTensors& t,
                 const AttentionHead& head) {
  with_storage(sizes.dtype, [&]<class T>(Storage<T>) HWY_ATTR { AttendHead<T>(sizes, t, head); });
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {

HWY_EXPORT(attend_head);

AttentionSizes::AttentionSizes(const KernelRequest& request, size_t q, size_t sequence_starts)
    : T(request.inputs[q].shape[0]),
      longest(ops::longest_length(T, request.attributes_as<ops::AttentionAttributes>())),
      B(request.inputs[sequence_starts].shape[0] - 1),
      H(request.inputs[q].shape[1]),
      N(request.attributes_as<ops::AttentionAttributes>().num_heads),
      D(H / N),
      dtype(request.inputs[q].dtype),
      num_threads(host::threads_of(request)) {}

HeadKernel::HeadKernel(const KernelRequest& request, size_t q, size_t sequence_starts,
                       size_t (*scratch_bytes)(const AttentionSizes&))
    : sizes_(request, q, sequence_starts),
      sequence_starts_(sequence_starts),
      attributes_(request.attributes_as<ops::AttentionAttributes>()),
      scratch_bytes_(scratch_bytes(sizes_)) {}

void HeadKernel::clear_unused(const KernelArguments& arguments, void* tensor) const {
  const int64_t row_bytes = sizes_.H * bytes_of(sizes_.dtype);
  char* bytes = static_cast<char*>(tensor);
  std::fill(bytes + used_slots(arguments) * row_bytes, bytes + sizes_.T * row_bytes, 0);
}

void Attention::run(const KernelArguments& arguments, Stream&) {
  const AttentionTensors tensors{arguments.input<void>(kQ), arguments.input<void>(kK),
                                 arguments.input<void>(kV), arguments.output<void>(kContext),
                                 arguments.output<float>(kLogSumExp)};
  for_each_head(arguments, [&](const AttentionHead& head) { attend(tensors, head); });
  clear_unused(arguments, tensors.context);
  std::fill(tensors.log_sum_exp + used_slots(arguments) * sizes_.N,
            tensors.log_sum_exp + sizes_.T * sizes_.N, 0.0f);
}

namespace {

class VectorAttention final : public Attention {
 public:
  explicit VectorAttention(const KernelRequest& request)
      : Attention(request, bytes_of_buffers<AttentionBuffers>) {}

 private:
  void attend(const AttentionTensors& tensors, const AttentionHead& head) const override {
    HWY_DYNAMIC_DISPATCH(attend_head)(sizes_, tensors, head);
  }
};

constexpr KernelRow kRows[] = {
    {&ops::kAttention, "vector", refuse_other_storage, create_kernel<VectorAttention>},
};

}  // namespace

KernelTable attention_kernels() { return kRows; }

}  // namespace cloze::backend::cpu
#endif
