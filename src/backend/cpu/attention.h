// What attention and its gradient share: the tensors of a call, one head of one sequence as a task,
// and how the tasks are shared out over threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/dropout_row.h"
#include "backend/cpu/parallel.h"
#include "backend/kernel.h"
#include "ops/attention.h"

namespace cloze::backend::cpu {

struct AttentionSizes {
  AttentionSizes(const KernelRequest& request, size_t q, size_t sequence_starts);

  int64_t T = 0;  // token slots
  int64_t B = 0;  // sequences
  int64_t H = 0;  // hidden size
  int64_t N = 0;  // heads
  int64_t D = 0;  // head size
  DType dtype = DType::kF32;
  int num_threads = 1;

  // Extents of work buffers: whole panels of any vector target, for the longest sequence possible.
  int64_t padded_T() const { return (T + 31) / 32 * 32; }
  int64_t padded_D() const { return (D + 31) / 32 * 32; }
  // Where head n of slot t begins.
  int64_t offset(int64_t t, int64_t n) const { return t * H + n * D; }
};

// One head of one sequence.
struct AttentionHead {
  int64_t head = 0;
  int64_t start = 0;  // first slot of the sequence
  int64_t length = 0;
  DropoutRow dropout;  // row is that of the first query; threshold 0: keeps everything
  float* scratch = nullptr;
};

// What sequences a call has, and the mask of its probabilities.
struct AttentionRun {
  const int32_t* sequence_starts = nullptr;
  const int32_t* sample_ids = nullptr;
  DropoutRow dropout;
  float* workspace = nullptr;
  int64_t scratch_floats = 0;  // of one thread
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
    head.scratch = run.workspace + thread * run.scratch_floats;
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
class Attention : public Kernel {
 public:
  size_t workspace_bytes() const override;
  void run(const KernelArguments& arguments) override;

 protected:
  // scratch_floats: of a head, given its sizes.
  Attention(const KernelRequest& request, int64_t (*scratch_floats)(const AttentionSizes&));
  // From several threads.
  virtual void attend(const AttentionTensors& tensors, const AttentionHead& head) const = 0;

  const AttentionSizes sizes_;

 private:
  ops::AttentionAttributes attributes_;
  int64_t scratch_floats_;
};

}  // namespace cloze::backend::cpu
