// attention: one head of one sequence at a time, its keys and values packed once, its queries a few
// rows at a time, so that scores never leave the cache.
#include "backend/cpu/attention.h"

#include <algorithm>

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/storage.h"

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
        keys(workspace.take<float>(sizes.D * sizes.padded_T())),
        values(workspace.take<float>(sizes.padded_T() * sizes.padded_D())),
        queries(workspace.take<float>(kQueryRows * sizes.D)),
        scores(workspace.take<float>(kQueryRows * sizes.padded_T())),
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
  const int64_t padded = (head.length + kTileColumns - 1) / kTileColumns * kTileColumns;
  const int64_t offset = sizes.offset(head.start + first, head.head);
  PackTiles(static_cast<const T*>(t.q) + offset, sizes.H, sizes.D, rows, buffers.queries);
  MultiplyPanels<RowLayout::kByDepth>(
      rows, padded,
      {sizes.D, buffers.queries, kTileRows, sizes.D, buffers.keys, buffers.scores, padded});
  float inverse_sums[kQueryRows];
  ExponentiateRows<T>(sizes, t, head, {first, rows, padded, buffers.scores}, inverse_sums);
  const int64_t context_stride = (sizes.D + kTileColumns - 1) / kTileColumns * kTileColumns;
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
      B(request.inputs[sequence_starts].shape[0] - 1),
      H(request.inputs[q].shape[1]),
      N(request.attributes_as<ops::AttentionAttributes>().num_heads),
      D(H / N),
      dtype(request.inputs[q].dtype),
      num_threads(request.num_threads) {}

int64_t used_slots(const AttentionSizes& sizes, const int32_t* sequence_starts) {
  return sequence_starts[sizes.B];
}

void clear_unused(const AttentionSizes& sizes, int64_t used, void* tensor) {
  const int64_t row_bytes = sizes.H * bytes_of(sizes.dtype);
  char* bytes = static_cast<char*>(tensor);
  std::fill(bytes + used * row_bytes, bytes + sizes.T * row_bytes, 0);
}

Attention::Attention(const KernelRequest& request, size_t (*scratch_bytes)(const AttentionSizes&))
    : sizes_(request, kQ, kSequenceStarts),
      attributes_(request.attributes_as<ops::AttentionAttributes>()),
      scratch_bytes_(scratch_bytes(sizes_)) {}

size_t Attention::workspace_bytes() const {
  return scratch_bytes_ * static_cast<size_t>(sizes_.num_threads);
}

void Attention::run(const KernelArguments& arguments, Stream&) {
  const AttentionTensors tensors{arguments.input<void>(kQ), arguments.input<void>(kK),
                                 arguments.input<void>(kV), arguments.output<void>(kContext),
                                 arguments.output<float>(kLogSumExp)};
  AttentionRun run{arguments.input<int32_t>(kSequenceStarts), arguments.input<int32_t>(kSampleIds)};
  run.dropout =
      dropout_row(attributes_.rate, attributes_.site, arguments.input<int32_t>(kRandomKey));
  run.workspace = arguments.workspace.as<char>();
  run.scratch_bytes = scratch_bytes_;
  for_each_head(sizes_, run, [&](const AttentionHead& head) { attend(tensors, head); });
  const int64_t used = used_slots(sizes_, run.sequence_starts);
  clear_unused(sizes_, used, tensors.context);
  std::fill(tensors.log_sum_exp + used * sizes_.N, tensors.log_sum_exp + sizes_.T * sizes_.N, 0.0f);
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
