// What attention and its gradient share: the tensors of a call, one head of one sequence as a task,
// and how the tasks are shared out over threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/dropout_row.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/workspace.h"
#include "backend/kernel.h"
#include "ops/attention.h"

namespace cloze::backend::cpu {

// What is padded in work buffers, to whole panels of any vector target.
inline constexpr int64_t kPaddedExtent = 32;

// Queries at a time, forward: whole tiles of any vector target.
inline constexpr int64_t kQueryRows = 42;
// Queries at a time, backward, at most: the depth of the products that sum over queries, worth a
// pass over dk and dv. The buffers have this many rows; a range of queries is as many whole tiles
// as fit into them.
inline constexpr int64_t kMostGradientRows = 72;

struct AttentionSizes {
  AttentionSizes(const KernelRequest& request, size_t q, size_t sequence_starts);

  int64_t T = 0;  // token slots
  int64_t B = 0;  // sequences
  int64_t H = 0;  // hidden size
  int64_t N = 0;  // heads
  int64_t D = 0;  // head size
  DType dtype = DType::kF32;
  int num_threads = 1;

  // Extents of work buffers, for the longest sequence possible.
  int64_t padded_T() const { return divide_up(T, kPaddedExtent) * kPaddedExtent; }
  int64_t padded_D() const { return divide_up(D, kPaddedExtent) * kPaddedExtent; }
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

// What sequences a call has, and the mask of its probabilities.
struct AttentionRun {
  const int32_t* sequence_starts = nullptr;
  const int32_t* sample_ids = nullptr;
  DropoutRow dropout;
  char* workspace = nullptr;
  size_t scratch_bytes = 0;  // of one thread
};

// Slots of sequences; the rest of the T is unused.
int64_t used_slots(const AttentionSizes& sizes, const int32_t* sequence_starts);

// Zeroes rows [used, T) of a tensor [T, H].
void clear_unused(const AttentionSizes& sizes, int64_t used, void* tensor);

// attend(head) for each head of each sequence that is not empty, from several threads. Which thread
// takes which head depends on timing; what a head gives does not.
template <class Attend>
void for_each_head(const AttentionSizes& sizes, const AttentionRun& run, const Attend& attend) {
  for_each_item(sizes.B * sizes.N, sizes.num_threads, [&](int64_t item, int thread) {
    const int64_t b = item / sizes.N;
    AttentionHead head;
    head.head = item % sizes.N;
    head.start = run.sequence_starts[b];
    head.length = run.sequence_starts[b + 1] - head.start;
    if (head.length == 0) return;
    head.dropout = run.dropout;
    head.dropout.sample = static_cast<uint32_t>(run.sample_ids[head.start]);
    head.dropout.row = ops::attention_dropout_row(head.head, 0);
    head.scratch = run.workspace + static_cast<size_t>(thread) * run.scratch_bytes;
    attend(head);
  });
}

struct AttentionTensors {
  const void* q = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  void* context = nullptr;
  float* log_sum_exp = nullptr;
};

// What the kernels of attention have in common: all but how a head is computed.
class Attention : public Kernel, ops::Attention {
 public:
  size_t workspace_bytes() const override;
  void run(const KernelArguments& arguments, Stream&) override;

 protected:
  // scratch_bytes: of a head, given its sizes.
  Attention(const KernelRequest& request, size_t (*scratch_bytes)(const AttentionSizes&));
  // From several threads.
  virtual void attend(const AttentionTensors& tensors, const AttentionHead& head) const = 0;

  const AttentionSizes sizes_;

 private:
  ops::AttentionAttributes attributes_;
  size_t scratch_bytes_;
};

}  // namespace cloze::backend::cpu
