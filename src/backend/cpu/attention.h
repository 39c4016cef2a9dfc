// What attention and its gradient share: the tensors of a call, one head of one sequence as a task,
// and how the tasks are shared out over threads.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "backend/cpu/dropout_row.h"
#include "backend/cpu/native/pair_product.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/workspace.h"
#include "backend/kernel.h"
#include "ops/attention.h"

namespace cloze::backend::cpu {

// Extents of work buffers are padded to a multiple of this: whole panels of any vector target.
inline constexpr int64_t kPaddedExtent = 32;
static_assert(kPaddedExtent % kPairStep == 0, "work buffers hold whole steps of a pair product");

// Queries at a time, forward: whole tiles of any vector target.
inline constexpr int64_t kQueryRows = 42;
// The most queries at a time, backward: the depth of the products that sum over queries, large
// enough to be worth a pass over dk and dv. The buffers have this many rows; a range of queries is
// as many whole tiles as fit into them.
inline constexpr int64_t kMostGradientRows = 72;
// The same for bf16 units.
inline constexpr int64_t kMostNativeRows = 64;
static_assert(kMostNativeRows % kPairProductRows == 0 && kMostNativeRows % kPairStep == 0);

struct AttentionSizes {
  AttentionSizes(const KernelRequest& request, size_t q, size_t sequence_starts);

  int64_t T = 0;        // token slots
  int64_t longest = 0;  // slots that a sequence can have: at most T
  int64_t B = 0;        // sequences
  int64_t H = 0;        // hidden size
  int64_t N = 0;        // heads
  int64_t D = 0;        // head size
  DType dtype = DType::kF32;
  int num_threads = 1;

  // Extents of work buffers, for the longest sequence possible.
  int64_t padded_length() const { return round_up(longest, kPaddedExtent); }
  int64_t padded_D() const { return round_up(D, kPaddedExtent); }
  // What scores are multiplied by.
  float factor() const { return 1.0f / std::sqrt(static_cast<float>(D)); }
  // Where head n of slot t begins.
  int64_t offset(int64_t t, int64_t n) const { return t * H + n * D; }
};

// What the work buffers of a head need.
template <class Buffers>
size_t bytes_of_buffers(const AttentionSizes& sizes) {
  return Buffers(sizes, nullptr).workspace.bytes();
}

// One head of one sequence.
struct AttentionHead {
  int64_t head = 0;
  int64_t start = 0;  // first slot of the sequence
  int64_t length = 0;
  DropoutRow dropout;  // row is that of the first query; threshold 0: keeps everything
  void* scratch = nullptr;
};

// What the kernels of both passes have in common: heads are the tasks, each with scratch memory.
class HeadKernel : public Kernel {
 public:
  size_t workspace_bytes() const override {
    return scratch_bytes_ * static_cast<size_t>(sizes_.num_threads);
  }

 protected:
  // q, sequence_starts: which inputs they are; sample_ids and random_key follow. scratch_bytes
  // gives the scratch memory of one head for these sizes.
  HeadKernel(const KernelRequest& request, size_t q, size_t sequence_starts,
             size_t (*scratch_bytes)(const AttentionSizes&));

  // Calls attend(head) for each head of each sequence that is not empty, from several threads.
  // Which thread takes which head depends on timing; the result of a head does not. Throws
  // InternalError, before the first head, when a sequence is longer than the work buffers.
  template <class Attend>
  void for_each_head(const KernelArguments& arguments, const Attend& attend) const {
    const auto* starts = arguments.input<int32_t>(sequence_starts_);
    const auto* sample_ids = arguments.input<int32_t>(sequence_starts_ + 1);
    ops::check_lengths({starts, static_cast<size_t>(sizes_.B) + 1}, sizes_.longest);
    const DropoutRow dropout = dropout_row(attributes_.rate, attributes_.site,
                                           arguments.input<int32_t>(sequence_starts_ + 2));
    for_each_item(sizes_.B * sizes_.N, sizes_.num_threads, [&](int64_t item, int thread) {
      const int64_t b = item / sizes_.N;
      AttentionHead head{.head = item % sizes_.N, .start = starts[b], .dropout = dropout};
      head.length = starts[b + 1] - head.start;
      if (head.length == 0) return;
      head.dropout.sample = static_cast<uint32_t>(sample_ids[head.start]);
      head.dropout.row = ops::attention_dropout_row(head.head, 0);
      head.scratch = arguments.workspace.as<char>() + static_cast<size_t>(thread) * scratch_bytes_;
      attend(head);
    });
  }

  // Slots of sequences; the rest of the T is unused.
  int64_t used_slots(const KernelArguments& arguments) const {
    return arguments.input<int32_t>(sequence_starts_)[sizes_.B];
  }
  // Zeroes the unused rows of a tensor [T, H].
  void clear_unused(const KernelArguments& arguments, void* tensor) const;

  const AttentionSizes sizes_;

 private:
  size_t sequence_starts_;
  ops::AttentionAttributes attributes_;
  size_t scratch_bytes_;
};

struct AttentionTensors {
  const void* q = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  void* context = nullptr;
  float* log_sum_exp = nullptr;
};

// The forward pass: all but how a head is computed.
class Attention : public HeadKernel, ops::Attention {
 public:
  void run(const KernelArguments& arguments, Stream&) override;

 protected:
  Attention(const KernelRequest& request, size_t (*scratch_bytes)(const AttentionSizes&))
      : HeadKernel(request, kQ, kSequenceStarts, scratch_bytes) {}
  // From several threads.
  virtual void attend(const AttentionTensors& tensors, const AttentionHead& head) const = 0;
};

struct AttentionGradientTensors {
  const void* dcontext = nullptr;
  const void* q = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  const void* context = nullptr;
  const float* log_sum_exp = nullptr;
  void* dq = nullptr;
  void* dk = nullptr;
  void* dv = nullptr;
};

// The backward pass likewise.
class AttentionGradient : public HeadKernel, ops::AttentionGradient {
 public:
  void run(const KernelArguments& arguments, Stream&) override;

 protected:
  AttentionGradient(const KernelRequest& request, size_t (*scratch_bytes)(const AttentionSizes&))
      : HeadKernel(request, kQ, kSequenceStarts, scratch_bytes) {}
  // From several threads.
  virtual void differentiate(const AttentionGradientTensors& tensors,
                             const AttentionHead& head) const = 0;
};

}  // namespace cloze::backend::cpu
