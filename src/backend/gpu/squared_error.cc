#include "ops/squared_error.h"

#include "backend/gpu/block_sums.h"
#include "backend/gpu/kernels.h"
#include "base/division.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

constexpr int kLossThreads = 256;

// A target that is not a number is ignored.
template <typename T>
struct Errors {
  Global<const T> predictions;
  Global<const float> targets;
  int64_t count;

  CLOZE_DEVICE float error(int64_t b) const {
    const float target = targets.load(b);
    return target != target ? 0.0f : to_float(predictions.load(b)) - target;
  }
};

template <typename T>
struct SumSquares {
  static constexpr int kThreads = kLossThreads;
  struct Arguments {
    Errors<T> errors;
    Global<const float> normalizer;
    Global<float> loss;
  };
  struct Shared {
    BlockSums<float, kThreads, 1> sums;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    float sums[1] = {};
    for (int64_t b = thread(); b < in.errors.count; b += kThreads) {
      const float error = in.errors.error(b);
      sums[0] = fused(error, error, sums[0]);
    }
    shared<Shared>().sums.sum(sums);
    if (thread() == 0) in.loss.store(0, in.normalizer.load(0) * sums[0]);
  }
};

template <typename T>
struct ErrorGradient {
  static constexpr int kThreads = kLossThreads;
  struct Arguments {
    Errors<T> errors;
    Global<const float> dloss, normalizer;
    Global<T> dpredictions;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t b = global_thread<ErrorGradient>();
    if (b >= in.errors.count) return;
    const float scale = 2.0f * in.dloss.load(0) * in.normalizer.load(0);
    in.dpredictions.store(b, from_float<T>(scale * in.errors.error(b)));
  }
};

struct SquaredError {
  static constexpr const graph::OpDefinition& kOp = ops::kSquaredError;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::SquaredError;
    call.launch<SumSquares<T>>({},
                               {{call.input<T>(Op::kPredictions), call.input<float>(Op::kTargets),
                                 call.input_shape(Op::kTargets)[0]},
                                call.input<float>(Op::kNormalizer),
                                call.output<float>(Op::kLoss)});
  }
};

struct SquaredErrorGradient {
  static constexpr const graph::OpDefinition& kOp = ops::kSquaredErrorGradient;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::SquaredErrorGradient;
    const int64_t count = call.input_shape(Op::kTargets)[0];
    call.launch<ErrorGradient<T>>(
        {divide_up(count, int64_t{kLossThreads})},
        {{call.input<T>(Op::kPredictions), call.input<float>(Op::kTargets), count},
         call.input<float>(Op::kDloss),
         call.input<float>(Op::kNormalizer),
         call.output<T>(Op::kDpredictions)});
  }
};

}  // namespace

KernelTable squared_error_kernels() { return table_of<SquaredError, SquaredErrorGradient>(); }

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
