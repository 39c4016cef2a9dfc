#include "ops/cross_entropy.h"

#include "backend/gpu/block_sums.h"
#include "backend/gpu/kernels.h"
#include "backend/gpu/softmax_row.h"
#include "base/division.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

constexpr int kLossThreads = 256;
constexpr int kLossWarps = kLossThreads / kWarp;

// One block; each of its warps takes every eighth row.
template <typename T>
struct SumLosses {
  static constexpr int kThreads = kLossThreads;
  struct Arguments {
    Global<const T> logits;
    Global<const int32_t> labels;
    Global<const float> normalizer;
    Global<float> loss, correct;
    int32_t rows, classes;
    bool adds_loss, adds_correct;
  };
  struct Shared {
    BlockSums<float, kThreads, 2> sums;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    float sums[2] = {};  // of losses and of right answers, in lane 0
    for (int32_t b = warp(); b < in.rows; b += kLossWarps) {
      const int32_t label = in.labels.load(b);
      if (label < 0) continue;
      const int64_t at = int64_t{b} * in.classes;
      const auto logit = [&](int32_t c) { return to_float(in.logits.load(at + c)); };
      const SoftmaxRow row = softmax_row(in.classes, label, logit);
      if (lane() != 0) continue;
      sums[0] += row.loss(logit(label));
      sums[1] += row.first_largest == label ? 1.0f : 0.0f;
    }
    shared<Shared>().sums.sum(sums);
    if (thread() != 0) return;
    const float loss = in.normalizer.load(0) * sums[0];
    in.loss.store(0, in.adds_loss ? in.loss.load(0) + loss : loss);
    in.correct.store(0, in.adds_correct ? in.correct.load(0) + sums[1] : sums[1]);
  }
};

// dlogits; a warp has a row.
template <typename T>
struct RowGradient {
  static constexpr int kThreads = kLossThreads;
  struct Arguments {
    Global<const float> dloss, normalizer;
    Global<const T> logits;
    Global<const int32_t> labels;
    Global<T> dlogits;
    int32_t rows, classes;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t b = global_warp<RowGradient>();
    if (b >= in.rows) return;
    const int32_t label = in.labels.load(b);
    const int64_t at = b * in.classes;
    const auto logit = [&](int32_t c) { return to_float(in.logits.load(at + c)); };
    const float scale = in.dloss.load(0) * in.normalizer.load(0);
    const SoftmaxRow row = softmax_row(in.classes, label, logit);
    for (int32_t c = lane(); c < in.classes; c += kWarp) {
      const float gradient = scale * row.gradient(logit(c), c == label);
      in.dlogits.store(at + c, from_float<T>(label < 0 ? 0.0f : gradient));
    }
  }
};

int32_t extent(const Shape& shape, int axis) { return static_cast<int32_t>(shape[axis]); }

struct CrossEntropy {
  static constexpr const graph::OpDefinition& kOp = ops::kCrossEntropy;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::CrossEntropy;
    const Shape& shape = call.input_shape(Op::kLogits);
    call.launch<SumLosses<T>>({},
                              {call.input<T>(Op::kLogits), call.input<int32_t>(Op::kLabels),
                               call.input<float>(Op::kNormalizer), call.output<float>(Op::kLoss),
                               call.output<float>(Op::kCorrect), extent(shape, 0), extent(shape, 1),
                               call.accumulates(Op::kLoss), call.accumulates(Op::kCorrect)});
  }
};

struct CrossEntropyGradient {
  static constexpr const graph::OpDefinition& kOp = ops::kCrossEntropyGradient;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::CrossEntropyGradient;
    const Shape& shape = call.input_shape(Op::kLogits);
    call.launch<RowGradient<T>>({divide_up(shape[0], int64_t{kLossWarps})},
                                {call.input<float>(Op::kDloss), call.input<float>(Op::kNormalizer),
                                 call.input<T>(Op::kLogits), call.input<int32_t>(Op::kLabels),
                                 call.output<T>(Op::kDlogits), extent(shape, 0), extent(shape, 1)});
  }
};

}  // namespace

KernelTable cross_entropy_kernels() { return table_of<CrossEntropy, CrossEntropyGradient>(); }

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
