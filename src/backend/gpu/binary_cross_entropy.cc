#include "ops/binary_cross_entropy.h"

#include "backend/gpu/block_sums.h"
#include "backend/gpu/kernels.h"
#include "backend/gpu/math.h"
#include "base/division.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

constexpr int kLossThreads = 256;

// One block; each of its threads takes every 256th label.
template <typename T>
struct SumBinaryLosses {
  static constexpr int kThreads = kLossThreads;
  struct Arguments {
    Global<const T> logits;
    Global<const int32_t> labels;
    Global<const float> normalizer;
    Global<float> loss, correct;
    int64_t count;  // of labels
  };
  struct Shared {
    BlockSums<float, kThreads, 2> sums;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    float sums[2] = {};  // of losses and of right answers
    for (int64_t p = thread(); p < in.count; p += kThreads) {
      const int32_t label = in.labels.load(p);
      if (label < 0) continue;
      const float x = to_float(in.logits.load(p));
      // softplus(x) - label x is softplus(-x) where the label is 1: nothing cancels.
      const float against = label == 1 ? -x : x;
      sums[0] += larger(against, 0.0f) + logarithm_of_one_plus(exponential(-magnitude(x)));
      sums[1] += (x > 0.0f) == (label == 1) ? 1.0f : 0.0f;
    }
    shared<Shared>().sums.sum(sums);
    if (thread() != 0) return;
    in.loss.store(0, in.normalizer.load(0) * sums[0]);
    in.correct.store(0, sums[1]);
  }
};

template <typename T>
struct BinaryGradient {
  static constexpr int kThreads = kLossThreads;
  struct Arguments {
    Global<const float> dloss, normalizer;
    Global<const T> logits;
    Global<const int32_t> labels;
    Global<T> dlogits;
    int64_t count, num_labels;  // count: of logits
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t p = global_thread<BinaryGradient>();
    if (p >= in.count) return;
    const int32_t label = p < in.num_labels ? in.labels.load(p) : -1;
    const float x = to_float(in.logits.load(p));
    // 1 / (1 + e^-x) - 1 is -1 / (1 + e^x): nothing cancels.
    const float difference = label == 1 ? gated(-1.0f, -x) : gated(1.0f, x);
    const float scale = in.dloss.load(0) * in.normalizer.load(0);
    in.dlogits.store(p, from_float<T>(label < 0 ? 0.0f : scale * difference));
  }
};

struct BinaryCrossEntropy {
  static constexpr const graph::OpDefinition& kOp = ops::kBinaryCrossEntropy;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::BinaryCrossEntropy;
    call.launch<SumBinaryLosses<T>>(
        {}, {call.input<T>(Op::kLogits), call.input<int32_t>(Op::kLabels),
             call.input<float>(Op::kNormalizer), call.output<float>(Op::kLoss),
             call.output<float>(Op::kCorrect), call.input_shape(Op::kLabels)[0]});
  }
};

struct BinaryCrossEntropyGradient {
  static constexpr const graph::OpDefinition& kOp = ops::kBinaryCrossEntropyGradient;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::BinaryCrossEntropyGradient;
    const int64_t count = call.input_shape(Op::kLogits).elements();
    call.launch<BinaryGradient<T>>(
        {divide_up(count, int64_t{kLossThreads})},
        {call.input<float>(Op::kDloss), call.input<float>(Op::kNormalizer),
         call.input<T>(Op::kLogits), call.input<int32_t>(Op::kLabels), call.output<T>(Op::kDlogits),
         count, call.input_shape(Op::kLabels)[0]});
  }
};

}  // namespace

KernelTable binary_cross_entropy_kernels() {
  return table_of<BinaryCrossEntropy, BinaryCrossEntropyGradient>();
}

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
