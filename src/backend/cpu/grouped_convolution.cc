// grouped_convolution and its gradients as products of register tiles (product_tile-inl.h). The
// channels of a group are copied side by side, slot after slot, with zeros outside of the sequence:
// the window of a slot is then a row of W C numbers, and that of the next slot begins C later.
//
//   windows[t, j C + i] = x[t + j - (W - 1)/2, i]        of a group
//   y = windows weight        dweight = windows^T dy
//
// dx is a convolution of dy, with weights whose input and output channels are swapped and whose
// window is reversed.
#include "ops/grouped_convolution.h"

#include <algorithm>

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/product_plan.h"
#include "backend/cpu/storage.h"
#include "backend/cpu/workspace.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/grouped_convolution.cc"
#include <hwy/foreach_target.h>

#include "backend/cpu/product_tile-inl.h"

#ifndef CLOZE_BACKEND_CPU_GROUPED_CONVOLUTION_ONCE_
#define CLOZE_BACKEND_CPU_GROUPED_CONVOLUTION_ONCE_
namespace cloze::backend::cpu {

struct ConvolutionSizes {
  DType dtype = DType::kF32;
  int64_t slots = 0;
  int64_t channels = 0;
  int64_t group_size = 0;
  int64_t width = 0;

  int64_t groups() const { return channels / group_size; }
  int64_t window() const { return width * group_size; }
  int64_t padded_group() const {
    return divide_up(group_size, kConvolutionPanel) * kConvolutionPanel;
  }
  int64_t packed_floats() const { return window() * padded_group(); }  // the weight of a group
};

// Slots [begin, end) of the sequence [first, last).
struct SequencePiece {
  int64_t begin = 0, end = 0;
  int64_t first = 0, last = 0;

  int64_t slots() const { return end - begin; }
};

// The pieces of sequences in a part of all slots, one after the other.
template <class Body>
void for_each_piece(const int32_t* starts, int64_t sequences, const Part& part, const Body& body) {
  const int64_t after = std::upper_bound(starts, starts + sequences, part.begin) - starts;
  for (int64_t b = std::max<int64_t>(after - 1, 0); b < sequences && starts[b] < part.end; ++b) {
    const int64_t end = std::min<int64_t>(starts[b + 1], part.end);
    int64_t begin = std::max<int64_t>(starts[b], part.begin);
    for (; begin < end; begin += kConvolutionSlots) {
      body(
          SequencePiece{begin, std::min(begin + kConvolutionSlots, end), starts[b], starts[b + 1]});
    }
  }
}

// The work buffers of a thread.
struct ConvolutionBuffers {
  ConvolutionBuffers(const ConvolutionSizes& sizes, void* scratch)
      : workspace(scratch),
        windows(workspace.take<float>((kConvolutionSlots + sizes.width - 1) * sizes.group_size)),
        slots(workspace.take<float>(kConvolutionSlots * sizes.padded_group())) {}

  Workspace workspace;
  float* windows;  // a piece and the slots beside it that its windows reach
  float* slots;    // a piece: sums [slots, C], or dy in panels
};

struct ConvolutionTask {
  ConvolutionSizes sizes;
  const void* x = nullptr;
  const float* packed = nullptr;  // the weights of all groups
  const float* bias = nullptr;    // may be null
  void* y = nullptr;
};

// Packs the weight of a group [C, W C], taken as rounded, into the panels of ConvolutionTask.
struct PackedConvolution {
  const float* weight = nullptr;
  bool is_turned = false;   // for the gradient to the input
  float* row = nullptr;     // [W C], scratch
  float* packed = nullptr;  // panels [W C, 16]
};

struct ConvolutionGradientTask {
  ConvolutionSizes sizes;
  const void* dy = nullptr;
  const void* x = nullptr;
  float* dweight = nullptr;  // of all groups, [W C, C] each
  float* dbias = nullptr;    // [H]
};

}  // namespace cloze::backend::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

static_assert(kConvolutionPanel % kLanes == 0);
inline constexpr int64_t kPanelVectors = kConvolutionPanel / kLanes;

// The channels of a group at the slots of a piece and beside them. Only a part of each row is read,
// so the processor does not prefetch the next one.
template <typename T>
void CopyWindows(const ConvolutionSizes& sizes, const SequencePiece& piece, const T* x, float* to) {
  const int64_t beside = (sizes.width - 1) / 2;
  for (int64_t t = piece.begin - beside; t < piece.end + beside; ++t, to += sizes.group_size) {
    if (t < piece.first || t >= piece.last) {
      std::fill(to, to + sizes.group_size, 0.0f);
      continue;
    }
    const T* row = x + t * sizes.channels;
    FetchRow(row + sizes.group_size, sizes.group_size);
    CopyFloats(row, sizes.group_size, to);
  }
}

template <typename T>
void Convolve(const ConvolutionTask& task, const SequencePiece& piece,
              const ConvolutionBuffers& buffers) {
  const FloatTag d;
  const ConvolutionSizes& sizes = task.sizes;
  const int64_t C = sizes.group_size;
  TileArguments tile{.depth = sizes.window(), .a = buffers.windows, .a_stride = C, .a_row_step = C};
  tile.c = buffers.slots;
  tile.c_stride = C;
  for (int64_t g = 0; g < sizes.groups(); ++g) {
    CopyWindows(sizes, piece, static_cast<const T*>(task.x) + g * C, buffers.windows);
    tile.b = task.packed + g * sizes.packed_floats();
    MultiplyPanels<RowLayout::kByRow, kPanelVectors>(piece.slots(), C, tile);
    const float* bias = task.bias == nullptr ? nullptr : task.bias + g * C;
    T* y = static_cast<T*>(task.y) + piece.begin * sizes.channels + g * C;
    for (int64_t t = 0; t < piece.slots(); ++t, y += sizes.channels) {
      ForEachVector(d, C, [&](int64_t i, auto part) HWY_ATTR {
        FloatVector v = LoadFloats(d, buffers.slots + t * C + i, part);
        if (bias != nullptr) v = hn::Add(v, LoadFloats(d, bias + i, part));
        StoreFloats(d, v, y + i, part);
      });
    }
  }
}

void convolve(const ConvolutionTask& task, const SequencePiece& piece,
              const ConvolutionBuffers& buffers) {
  with_storage(task.sizes.dtype,
               [&]<class T>(Storage<T>) HWY_ATTR { Convolve<T>(task, piece, buffers); });
}

HWY_INLINE void CopyRounded(DType dtype, const float* from, int64_t count, float* to) {
  with_storage(dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    if constexpr (HalfFloat<T>) {
      CopyFloats(reinterpret_cast<const RoundedFloat<T>*>(from), count, to);
    } else {
      CopyFloats(from, count, to);
    }
  });
}

// From weight[c, i, j]: panels of [j C + i, c], or, when reversed, of [(W - 1 - j) C + c, i].
void pack_convolution(const ConvolutionSizes& sizes, const PackedConvolution& p) {
  const int64_t C = sizes.group_size;
  std::fill(p.packed, p.packed + sizes.packed_floats(), 0.0f);
  const auto at = [&](int64_t k, int64_t column) -> float& {
    const int64_t panel = column / kConvolutionPanel * sizes.window();
    return p.packed[(panel + k) * kConvolutionPanel + column % kConvolutionPanel];
  };
  for (int64_t c = 0; c < C; ++c) {
    CopyRounded(sizes.dtype, p.weight + c * sizes.window(), sizes.window(), p.row);
    for (int64_t i = 0; i < C; ++i) {
      for (int64_t j = 0; j < sizes.width; ++j) {
        const float weight = p.row[i * sizes.width + j];
        (p.is_turned ? at((sizes.width - 1 - j) * C + c, i) : at(j * C + i, c)) = weight;
      }
    }
  }
}

template <typename T>
void AddGradients(const ConvolutionGradientTask& task, const SequencePiece& piece, int64_t group,
                  const ConvolutionBuffers& buffers) {
  const FloatTag d;
  const ConvolutionSizes& sizes = task.sizes;
  const int64_t C = sizes.group_size;
  CopyWindows(sizes, piece, static_cast<const T*>(task.x) + group * C, buffers.windows);
  const T* dy = static_cast<const T*>(task.dy) + piece.begin * sizes.channels + group * C;
  float* dbias = task.dbias + group * C;
  for (int64_t t = 0; t < piece.slots(); ++t, dy += sizes.channels) {
    FetchRow(dy + C, C);
    for (int64_t i = 0; i < C; i += kConvolutionPanel) {
      float* to = buffers.slots + i * piece.slots() + t * kConvolutionPanel;
      const int64_t columns = HWY_MIN(kConvolutionPanel, C - i);
      std::fill(to + columns, to + kConvolutionPanel, 0.0f);
      ForEachVector(d, columns, [&](int64_t j, auto part) HWY_ATTR {
        const FloatVector v = LoadFloats(d, dy + i + j, part);
        StoreFloats(d, v, to + j, part);
        StoreFloats(d, hn::Add(v, LoadFloats(d, dbias + i + j, part)), dbias + i + j, part);
      });
    }
  }
  TileArguments tile{.depth = piece.slots(), .a = buffers.windows, .a_stride = C, .a_row_step = 1};
  tile.b = buffers.slots;
  tile.c = task.dweight + group * sizes.window() * C;
  tile.c_stride = C;
  tile.accumulates = true;
  MultiplyPanels<RowLayout::kByDepth, kPanelVectors>(sizes.window(), C, tile);
}

void add_convolution_gradients(const ConvolutionGradientTask& task, const SequencePiece& piece,
                               int64_t group, const ConvolutionBuffers& buffers) {
  with_storage(task.sizes.dtype,
               [&]<class T>(Storage<T>) HWY_ATTR { AddGradients<T>(task, piece, group, buffers); });
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {

HWY_EXPORT(convolve);
HWY_EXPORT(pack_convolution);
HWY_EXPORT(add_convolution_gradients);

namespace {

// The workspace: the part that all threads share, then the part of each thread.
struct ConvolutionWorkspace {
  ConvolutionWorkspace(const ConvolutionSizes& sizes, int64_t shared_floats, int num_threads,
                       void* memory)
      : workspace(memory),
        shared(workspace.take<float>(shared_floats)),
        thread_bytes(ConvolutionBuffers(sizes, nullptr).workspace.bytes()),
        threads(workspace.take<char>(static_cast<int64_t>(thread_bytes) * num_threads)) {}

  void* of_thread(int thread) const { return threads + thread_bytes * static_cast<size_t>(thread); }

  Workspace workspace;
  float* shared;
  size_t thread_bytes;
  char* threads;
};

// The operator and its gradient to the input, which has dy in the place of x.
class GroupedConvolution final : public Kernel, ops::GroupedConvolution {
 public:
  explicit GroupedConvolution(const KernelRequest& request)
      : request_(request),
        sizes_{request.inputs[kX].dtype, request.inputs[kX].shape[0], request.inputs[kX].shape[1],
               request.inputs[kWeight].shape[1], request.inputs[kWeight].shape[2]} {}

  size_t workspace_bytes() const override { return workspace(nullptr).workspace.bytes(); }

  void run(const KernelArguments& arguments, Stream&) override {
    const ConvolutionWorkspace memory = workspace(arguments.workspace.as<void>());
    pack(arguments, memory);
    ConvolutionTask task{.sizes = sizes_, .x = arguments.input<void>(kX), .packed = memory.shared};
    if (request_.inputs.size() > kBias) task.bias = arguments.input<float>(kBias);
    task.y = arguments.output<void>(kY);
    const auto* starts = arguments.input<int32_t>(kSequenceStarts);
    const int64_t sequences = request_.inputs[kSequenceStarts].shape[0] - 1;
    constexpr int64_t kLeastSlots = 16;
    const Work work{.items = sizes_.slots,
                    .granularity = kLeastSlots,
                    .num_threads = host::threads_of(request_)};
    for_each_part(work, [&](const Part& part) {
      const ConvolutionBuffers buffers(sizes_, memory.of_thread(part.thread));
      for_each_piece(starts, sequences, part, [&](const SequencePiece& piece) {
        HWY_DYNAMIC_DISPATCH(convolve)(task, piece, buffers);
      });
      clear_slots(task.y, std::max<int64_t>(part.begin, starts[sequences]), part.end);
    });
  }

 private:
  ConvolutionWorkspace workspace(void* memory) const {
    return {sizes_, sizes_.groups() * sizes_.packed_floats(), host::threads_of(request_), memory};
  }

  void pack(const KernelArguments& arguments, const ConvolutionWorkspace& memory) const {
    for_each_item(sizes_.groups(), host::threads_of(request_), [&](int64_t group, int thread) {
      const int64_t weights = sizes_.window() * sizes_.group_size;
      HWY_DYNAMIC_DISPATCH(pack_convolution)
      (sizes_, {.weight = arguments.input<float>(kWeight) + group * weights,
                .is_turned = request_.op == &ops::kGroupedConvolutionInputGradient,
                .row = ConvolutionBuffers(sizes_, memory.of_thread(thread)).windows,
                .packed = memory.shared + group * sizes_.packed_floats()});
    });
  }

  void clear_slots(void* y, int64_t begin, int64_t end) const {
    if (begin >= end) return;
    const int64_t row_bytes = sizes_.channels * bytes_of(sizes_.dtype);
    std::fill_n(static_cast<char*>(y) + begin * row_bytes, (end - begin) * row_bytes, char{0});
  }

  KernelRequest request_;
  ConvolutionSizes sizes_;
};

class GroupedConvolutionWeightGradient final : public Kernel,
                                               ops::GroupedConvolutionWeightGradient {
 public:
  explicit GroupedConvolutionWeightGradient(const KernelRequest& request)
      : request_(request),
        sizes_{request.inputs[kDy].dtype, request.inputs[kDy].shape[0],
               request.inputs[kDy].shape[1], request.outputs[kDweight].shape[1],
               request.outputs[kDweight].shape[2]} {}

  size_t workspace_bytes() const override { return workspace(nullptr).workspace.bytes(); }

  // One thread computes all sums of a group, in the order of the slots.
  void run(const KernelArguments& arguments, Stream&) override {
    const ConvolutionWorkspace memory = workspace(arguments.workspace.as<void>());
    ConvolutionGradientTask task{.sizes = sizes_,
                                 .dy = arguments.input<void>(kDy),
                                 .x = arguments.input<void>(kX),
                                 .dweight = memory.shared,
                                 .dbias = memory.shared + weights()};
    const auto* starts = arguments.input<int32_t>(kSequenceStarts);
    const int64_t sequences = request_.inputs[kSequenceStarts].shape[0] - 1;
    const Work work{.items = sizes_.groups(), .num_threads = host::threads_of(request_)};
    for_each_part(work, [&](const Part& groups) {
      const ConvolutionBuffers buffers(sizes_, memory.of_thread(groups.thread));
      const int64_t C = sizes_.group_size;
      std::fill(task.dbias + groups.begin * C, task.dbias + groups.end * C, 0.0f);
      std::fill(task.dweight + groups.begin * C * sizes_.window(),
                task.dweight + groups.end * C * sizes_.window(), 0.0f);
      for_each_piece(starts, sequences, {0, sizes_.slots}, [&](const SequencePiece& piece) {
        for (int64_t group = groups.begin; group < groups.end; ++group) {
          HWY_DYNAMIC_DISPATCH(add_convolution_gradients)(task, piece, group, buffers);
        }
      });
      finish(arguments, task, groups);
    });
  }

 private:
  int64_t weights() const { return sizes_.channels * sizes_.window(); }
  ConvolutionWorkspace workspace(void* memory) const {
    return {sizes_, weights() + sizes_.channels, host::threads_of(request_), memory};
  }

  // The sums in the layout of the weight.
  void finish(const KernelArguments& arguments, const ConvolutionGradientTask& task,
              const Part& groups) const {
    const int64_t C = sizes_.group_size;
    auto* dweight = arguments.output<float>(kDweight);
    for (int64_t c = groups.begin * C; c < groups.end * C; ++c) {
      const float* sums = task.dweight + c / C * C * sizes_.window() + c % C;
      for (int64_t i = 0; i < C; ++i) {
        for (int64_t j = 0; j < sizes_.width; ++j) {
          float& to = dweight[c * sizes_.window() + i * sizes_.width + j];
          to = sums[(j * C + i) * C] + (request_.accumulates[kDweight] ? to : 0.0f);
        }
      }
      if (request_.outputs.size() <= kDbias) continue;
      float& to = arguments.output<float>(kDbias)[c];
      to = task.dbias[c] + (request_.accumulates[kDbias] ? to : 0.0f);
    }
  }

  KernelRequest request_;
  ConvolutionSizes sizes_;
};

constexpr KernelRow kRows[] = {
    {&ops::kGroupedConvolution, "tiles", refuse_other_storage, create_kernel<GroupedConvolution>},
    {&ops::kGroupedConvolutionInputGradient, "tiles", refuse_other_storage,
     create_kernel<GroupedConvolution>},
    {&ops::kGroupedConvolutionWeightGradient, "tiles", refuse_other_storage,
     create_kernel<GroupedConvolutionWeightGradient>},
};

}  // namespace

KernelTable grouped_convolution_kernels() { return kRows; }

}  // namespace cloze::backend::cpu
#endif
