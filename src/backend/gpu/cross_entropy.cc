#include "ops/cross_entropy.h"

#include "backend/gpu/block_sums.h"
#include "backend/gpu/kernels.h"
#include "backend/gpu/softmax_row.h"
#include "base/division.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

constexpr int kLossThreads = 256;
constexpr int kLossWarps = kLossThreads / kWarp;

// The labels as label smoothing and class weights change them.
struct Targets {
  float of_label, of_each;      // 1 - s, s / C
  Global<const float> weights;  // none: 1 each

  CLOZE_DEVICE bool is_smoothed() const { return of_each > 0.0f; }
  CLOZE_DEVICE float weight(int32_t c) const { return weights ? weights.load(c) : 1.0f; }
  // By one warp, the same in all lanes.
  CLOZE_DEVICE float total_weight(int32_t classes) const {
    float total = 0.0f;
    for (int32_t c = lane(); c < classes; c += kWarp) total += weight(c);
    return warp_sum(total);
  }
};

// One block; each of its warps takes every eighth row.
template <typename T>
struct SumLosses {
  static constexpr int kThreads = kLossThreads;
  struct Arguments {
    Global<const T> logits;
    Global<const int32_t> labels;
    Global<const float> normalizer;
    Targets targets;
    Global<float> loss, correct;
    int32_t rows, classes;
    bool adds_loss, adds_correct;
  };
  struct Shared {
    BlockSums<float, kThreads, 2> sums;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    float sums[2] = {};  // of losses and of right answers
    for (int32_t b = warp(); b < in.rows; b += kLossWarps) {
      const int32_t label = in.labels.load(b);
      if (label < 0) continue;
      const int64_t at = int64_t{b} * in.classes;
      const auto logit = [&](int32_t c) { return to_float(in.logits.load(at + c)); };
      const SoftmaxRow row = softmax_row(in.classes, label, logit);
      if (in.targets.is_smoothed()) {
        for (int32_t c = lane(); c < in.classes; c += kWarp) {
          sums[0] += in.targets.of_each * in.targets.weight(c) *
                     (row.largest - logit(c) + logarithm(row.sum));
        }
      }
      if (lane() != 0) continue;
      sums[0] += in.targets.of_label * in.targets.weight(label) * row.loss(logit(label));
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
    Targets targets;
    Global<T> dlogits;
    int32_t rows, classes;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t b = global_warp<RowGradient>();
    if (b >= in.rows) return;
    const int32_t label = in.labels.load(b);
    const int64_t at = b * in.classes;
    const auto logit = [&](int32_t c) { return to_float(in.logits.load(at + c)); };
    const float scale = label < 0 ? 0.0f : in.dloss.load(0) * in.normalizer.load(0);
    const float of_label =
        label < 0 ? 0.0f : scale * in.targets.of_label * in.targets.weight(label);
    const float of_each = scale * in.targets.of_each;
    const float total = in.targets.is_smoothed() ? in.targets.total_weight(in.classes) : 0.0f;
    const SoftmaxRow row = softmax_row(in.classes, label, logit);
    for (int32_t c = lane(); c < in.classes; c += kWarp) {
      float gradient = of_label * row.gradient(logit(c), c == label);
      if (in.targets.is_smoothed()) {
        gradient += of_each * (total * row.probability(logit(c)) - in.targets.weight(c));
      }
      in.dlogits.store(at + c, from_float<T>(label < 0 ? 0.0f : gradient));
    }
  }
};

int32_t extent(const Shape& shape, int axis) { return static_cast<int32_t>(shape[axis]); }

template <typename Names>
Targets targets_of(const Call& call) {
  const double smoothing = call.attributes<ops::CrossEntropyAttributes>().label_smoothing;
  const auto classes = static_cast<double>(call.input_shape(Names::kLogits)[1]);
  return {static_cast<float>(1.0 - smoothing), static_cast<float>(smoothing / classes),
          call.input<float>(Names::kClassWeights)};
}

struct CrossEntropy {
  static constexpr const graph::OpDefinition& kOp = ops::kCrossEntropy;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::CrossEntropy;
    const Shape& shape = call.input_shape(Op::kLogits);
    call.launch<SumLosses<T>>(
        {}, {call.input<T>(Op::kLogits), call.input<int32_t>(Op::kLabels),
             call.input<float>(Op::kNormalizer), targets_of<Op>(call),
             call.output<float>(Op::kLoss), call.output<float>(Op::kCorrect), extent(shape, 0),
             extent(shape, 1), call.accumulates(Op::kLoss), call.accumulates(Op::kCorrect)});
  }
};

struct CrossEntropyGradient {
  static constexpr const graph::OpDefinition& kOp = ops::kCrossEntropyGradient;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::CrossEntropyGradient;
    const Shape& shape = call.input_shape(Op::kLogits);
    call.launch<RowGradient<T>>(
        {divide_up(shape[0], int64_t{kLossWarps})},
        {call.input<float>(Op::kDloss), call.input<float>(Op::kNormalizer),
         call.input<T>(Op::kLogits), call.input<int32_t>(Op::kLabels), targets_of<Op>(call),
         call.output<T>(Op::kDlogits), extent(shape, 0), extent(shape, 1)});
  }
};

}  // namespace

KernelTable cross_entropy_kernels() { return table_of<CrossEntropy, CrossEntropyGradient>(); }

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
