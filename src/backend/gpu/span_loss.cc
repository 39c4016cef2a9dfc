#include "ops/span_loss.h"

#include "backend/gpu/block_sums.h"
#include "backend/gpu/kernels.h"
#include "backend/gpu/softmax_row.h"
#include "base/division.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

constexpr int kLossThreads = 256;
constexpr int kLossWarps = kLossThreads / kWarp;

// The sequences of a batch, and where their spans begin and end.
template <typename T>
struct Spans {
  Global<const T> logits;  // [T, 2]
  Global<const int32_t> sequence_starts, start_positions, end_positions;
  int64_t sequences;

  CLOZE_DEVICE int32_t begin(int64_t b) const { return sequence_starts.load(b); }
  CLOZE_DEVICE int32_t length(int64_t b) const { return begin(b + 1) - begin(b); }
  CLOZE_DEVICE int32_t label(int64_t b, int side) const {
    return (side == 0 ? start_positions : end_positions).load(b);
  }
  CLOZE_DEVICE bool is_ignored(int64_t b) const { return label(b, 0) < 0 || label(b, 1) < 0; }
  CLOZE_DEVICE float logit(int64_t t, int side) const {
    return to_float(logits.load(2 * t + side));
  }
  CLOZE_DEVICE SoftmaxRow row(int64_t b, int side) const {
    const int64_t first = begin(b);
    const auto label_here = static_cast<int32_t>(label(b, side) - first);
    return softmax_row(length(b), label_here, [&](int32_t t) { return logit(first + t, side); });
  }
};

// One block; each of its warps takes every eighth sequence.
template <typename T>
struct SumSpanLosses {
  static constexpr int kThreads = kLossThreads;
  struct Arguments {
    Spans<T> spans;
    Global<const float> normalizer;
    Global<float> loss, correct;
  };
  struct Shared {
    BlockSums<float, kThreads, 2> sums;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    float sums[2] = {};  // of losses and of right answers, in lane 0
    for (int64_t b = warp(); b < in.spans.sequences; b += kLossWarps) {
      if (in.spans.is_ignored(b)) continue;
      bool is_correct = true;
      for (int side = 0; side < 2; ++side) {
        const SoftmaxRow row = in.spans.row(b, side);
        const int32_t label = in.spans.label(b, side);
        is_correct = is_correct && in.spans.begin(b) + row.first_largest == label;
        if (lane() == 0) sums[0] += 0.5f * row.loss(in.spans.logit(label, side));
      }
      if (lane() == 0 && is_correct) sums[1] += 1.0f;
    }
    shared<Shared>().sums.sum(sums);
    if (thread() != 0) return;
    in.loss.store(0, in.normalizer.load(0) * sums[0]);
    in.correct.store(0, sums[1]);
  }
};

// dlogits; a warp has a sequence, and the last one what lies after the sequences.
template <typename T>
struct SpanGradient {
  static constexpr int kThreads = kLossThreads;
  struct Arguments {
    Spans<T> spans;
    Global<const float> dloss, normalizer;
    Global<T> dlogits;
    int64_t slots;
  };

  CLOZE_DEVICE static void clear(const Arguments& in, int64_t begin, int64_t end) {
    for (int64_t i = 2 * begin + lane(); i < 2 * end; i += kWarp) {
      in.dlogits.store(i, from_float<T>(0.0f));
    }
  }

  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t b = global_warp<SpanGradient>();
    if (b > in.spans.sequences) return;
    const int64_t begin = in.spans.begin(b);
    if (b == in.spans.sequences) return clear(in, begin, in.slots);
    const int64_t end = begin + in.spans.length(b);
    if (in.spans.is_ignored(b)) return clear(in, begin, end);
    const float scale = 0.5f * in.dloss.load(0) * in.normalizer.load(0);
    for (int side = 0; side < 2; ++side) {
      const SoftmaxRow row = in.spans.row(b, side);
      const int64_t label = in.spans.label(b, side);
      for (int64_t t = begin + lane(); t < end; t += kWarp) {
        const float gradient = row.gradient(in.spans.logit(t, side), t == label);
        in.dlogits.store(2 * t + side, from_float<T>(scale * gradient));
      }
    }
  }
};

// The four inputs follow each other.
template <typename T>
Spans<T> spans_of(const Call& call, size_t logits) {
  return {call.input<T>(logits), call.input<int32_t>(logits + 1), call.input<int32_t>(logits + 2),
          call.input<int32_t>(logits + 3), call.input_shape(logits + 2)[0]};
}

struct SpanLoss {
  static constexpr const graph::OpDefinition& kOp = ops::kSpanLoss;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::SpanLoss;
    call.launch<SumSpanLosses<T>>(
        {}, {spans_of<T>(call, Op::kLogits), call.input<float>(Op::kNormalizer),
             call.output<float>(Op::kLoss), call.output<float>(Op::kCorrect)});
  }
};

struct SpanLossGradient {
  static constexpr const graph::OpDefinition& kOp = ops::kSpanLossGradient;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::SpanLossGradient;
    const Spans<T> spans = spans_of<T>(call, Op::kLogits);
    call.launch<SpanGradient<T>>(
        {divide_up(spans.sequences + 1, int64_t{kLossWarps})},
        {spans, call.input<float>(Op::kDloss), call.input<float>(Op::kNormalizer),
         call.output<T>(Op::kDlogits), call.input_shape(Op::kLogits)[0]});
  }
};

}  // namespace

KernelTable span_loss_kernels() { return table_of<SpanLoss, SpanLossGradient>(); }

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
