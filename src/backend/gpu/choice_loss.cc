#include "ops/choice_loss.h"

#include "backend/gpu/block_sums.h"
#include "backend/gpu/kernels.h"
#include "backend/gpu/softmax_row.h"
#include "base/division.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

constexpr int kLossThreads = 256;
constexpr int kLossWarps = kLossThreads / kWarp;

// The questions of a batch. A warp has one.
template <typename T>
struct Questions {
  Global<const T> logits;
  Global<const int32_t> num_choices, labels;
  int64_t count;

  // The first sequence of question p.
  CLOZE_DEVICE int64_t first(int64_t p) const {
    int32_t before = 0;
    for (int64_t i = lane(); i < p; i += kWarp) before += num_choices.load(i);
    return warp_sum(before);
  }
  CLOZE_DEVICE SoftmaxRow row(int64_t p, int64_t first) const {
    return softmax_row(num_choices.load(p), labels.load(p),
                       [&](int32_t choice) { return to_float(logits.load(first + choice)); });
  }
};

// One block; each of its warps takes every eighth question.
template <typename T>
struct SumChoiceLosses {
  static constexpr int kThreads = kLossThreads;
  struct Arguments {
    Questions<T> questions;
    Global<const float> normalizer;
    Global<float> loss, correct;
  };
  struct Shared {
    BlockSums<float, kThreads, 2> sums;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    float sums[2] = {};  // of losses and of right answers, in lane 0
    for (int64_t p = warp(); p < in.questions.count; p += kLossWarps) {
      const int32_t label = in.questions.labels.load(p);
      if (label < 0) continue;
      const int64_t first = in.questions.first(p);
      const SoftmaxRow row = in.questions.row(p, first);
      if (lane() != 0) continue;
      sums[0] += row.loss(to_float(in.questions.logits.load(first + label)));
      sums[1] += row.first_largest == label ? 1.0f : 0.0f;
    }
    shared<Shared>().sums.sum(sums);
    if (thread() != 0) return;
    in.loss.store(0, in.normalizer.load(0) * sums[0]);
    in.correct.store(0, sums[1]);
  }
};

// dlogits; the last warp has the sequences without a question.
template <typename T>
struct ChoiceGradient {
  static constexpr int kThreads = kLossThreads;
  struct Arguments {
    Questions<T> questions;
    Global<const float> dloss, normalizer;
    Global<T> dlogits;
    int64_t sequences;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t p = global_warp<ChoiceGradient>();
    if (p > in.questions.count) return;
    const int64_t first = in.questions.first(p);
    const bool is_question = p < in.questions.count;
    const int32_t label = is_question ? in.questions.labels.load(p) : -1;
    const int64_t end = is_question ? first + in.questions.num_choices.load(p) : in.sequences;
    const SoftmaxRow row = is_question ? in.questions.row(p, first) : SoftmaxRow{};
    const float scale = in.dloss.load(0) * in.normalizer.load(0);
    for (int64_t b = first + lane(); b < end; b += kWarp) {
      float gradient = 0.0f;
      if (label >= 0) {
        gradient = scale * row.gradient(to_float(in.questions.logits.load(b)), b - first == label);
      }
      in.dlogits.store(b, from_float<T>(gradient));
    }
  }
};

// The three inputs follow each other.
template <typename T>
Questions<T> questions_of(const Call& call, size_t logits) {
  return {call.input<T>(logits), call.input<int32_t>(logits + 1), call.input<int32_t>(logits + 2),
          call.input_shape(logits + 2)[0]};
}

struct ChoiceLoss {
  static constexpr const graph::OpDefinition& kOp = ops::kChoiceLoss;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::ChoiceLoss;
    call.launch<SumChoiceLosses<T>>(
        {}, {questions_of<T>(call, Op::kLogits), call.input<float>(Op::kNormalizer),
             call.output<float>(Op::kLoss), call.output<float>(Op::kCorrect)});
  }
};

struct ChoiceLossGradient {
  static constexpr const graph::OpDefinition& kOp = ops::kChoiceLossGradient;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::ChoiceLossGradient;
    const Questions<T> questions = questions_of<T>(call, Op::kLogits);
    call.launch<ChoiceGradient<T>>(
        {divide_up(questions.count + 1, int64_t{kLossWarps})},
        {questions, call.input<float>(Op::kDloss), call.input<float>(Op::kNormalizer),
         call.output<T>(Op::kDlogits), call.input_shape(Op::kLogits)[0]});
  }
};

}  // namespace

KernelTable choice_loss_kernels() { return table_of<ChoiceLoss, ChoiceLossGradient>(); }

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
