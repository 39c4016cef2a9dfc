#include "ops/gradient_descent.h"

#include "backend/gpu/block_sums.h"
#include "backend/gpu/chunks.h"
#include "backend/gpu/kernels.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

// w -= lr (direction + weight_decay w), where the direction is g or the new velocity.
template <bool kHasVelocity>
struct Descend {
  static constexpr int kThreads = kChunkThreads;
  struct Arguments {
    Global<float> parameter, velocity;
    Global<const float> gradient, gradient_scale, learning_rate;
    Global<float> not_finite;  // [chunks]: NaN where something is not finite, else 0
    int64_t count;
    float momentum, weight_decay;
  };
  struct Shared {
    BlockSums<float, kThreads, 1> sums;
  };
  CLOZE_DEVICE static float direction(const Arguments& in, float scale, int64_t i) {
    const float g = scale * in.gradient.load(i);
    if constexpr (!kHasVelocity) return g;
    const float velocity = fused(in.momentum, in.velocity.load(i), g);
    in.velocity.store(i, velocity);
    return velocity;
  }
  CLOZE_DEVICE static void run(const Arguments& in) {
    float sums[1] = {};
    const float scale = in.gradient_scale.load(0);
    const float rate = in.learning_rate.load(0);
    if (scale != 0.0f) {
      visit_chunk(in.count, [&](int64_t i) {
        const float step = direction(in, scale, i);
        const float old = in.parameter.load(i);
        const float moved = fused(-rate, fused(in.weight_decay, old, step), old);
        in.parameter.store(i, moved);
        sums[0] += 0.0f * step + 0.0f * moved;
      });
    }
    shared<Shared>().sums.sum(sums);
    store_sums(in.not_finite, sums);
  }
};

// The check becomes NaN when one of the sums of chunks is.
struct CheckChunks {
  static constexpr int kThreads = kChunkThreads;
  struct Arguments {
    Global<const float> not_finite;
    Global<float> check;
    int64_t chunks;
  };
  struct Shared {
    BlockSums<float, kThreads, 1> sums;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    float sums[1] = {};
    for (int64_t c = thread(); c < in.chunks; c += kThreads) sums[0] += in.not_finite.load(c);
    shared<Shared>().sums.sum(sums);
    if (thread() == 0 && sums[0] != 0.0f) in.check.store(0, as_float(0x7fc00000u));
  }
};

template <typename Op>
struct Descent {
  static size_t workspace_bytes(const KernelRequest& request) {
    return static_cast<size_t>(num_chunks(request.inputs[Op::kParameter].shape.elements())) *
           sizeof(float);
  }
  template <typename T>
  static void run(const Call& call) {
    constexpr bool kHasVelocity = requires { Op::kVelocity; };
    Global<float> velocity;
    if constexpr (kHasVelocity) velocity = call.mutated<float>(Op::kVelocity);
    const auto& attributes = call.attributes<ops::GradientDescentAttributes>();
    const int64_t count = call.input_shape(Op::kParameter).elements();
    const int64_t chunks = num_chunks(count);
    call.launch<Descend<kHasVelocity>>(
        {chunks}, {call.mutated<float>(Op::kParameter), velocity, call.input<float>(Op::kGradient),
                   call.input<float>(Op::kGradientScale), call.input<float>(Op::kLearningRate),
                   call.workspace<float>(0, chunks), count, static_cast<float>(attributes.momentum),
                   static_cast<float>(attributes.weight_decay)});
    call.launch<CheckChunks>(
        {}, {call.workspace<const float>(0, chunks), call.mutated<float>(Op::kCheck), chunks});
  }
};

struct Sgd : Descent<ops::Sgd> {
  static constexpr const graph::OpDefinition& kOp = ops::kSgd;
};
struct Momentum : Descent<ops::Momentum> {
  static constexpr const graph::OpDefinition& kOp = ops::kMomentum;
};

}  // namespace

KernelTable gradient_descent_kernels() { return table_of<Momentum, Sgd>(); }

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
