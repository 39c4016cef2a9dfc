// The arithmetic of lamb and adamw on one element, and the numbers of one update that it needs.
#pragma once

#include "backend/gpu/call.h"
#include "ops/optimizer_update.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {

// The numbers that depend on the step: computed in double and rounded once, by one thread, because
// their inputs lie in the card's memory.
struct StepNumbers {
  float gradient_share1;  // (1 - beta1) gradient_scale, times first_moment_scale
  float debias1;          // 1 / (1 - beta1^t) / first_moment_scale
  float debias2;          // 1 / (1 - beta2^t)
  float epsilon;
};
inline constexpr int64_t kStepNumbers = sizeof(StepNumbers) / sizeof(float);

// beta^n.
CLOZE_DEVICE double power(double beta, int32_t n) {
  double result = 1.0;
  for (; n > 0; n /= 2, beta *= beta) {
    if (n % 2 == 1) result *= beta;
  }
  return result;
}

struct ComputeStep {
  static constexpr int kThreads = kWarp;
  struct Arguments {
    ops::MomentAttributes attributes;
    Global<const float> gradient_scale;
    Global<const int32_t> update_index;
    Global<float> numbers;  // StepNumbers
  };
  CLOZE_DEVICE static double debias(const Arguments& in, double beta) {
    if (!in.attributes.use_debiasing) return 1.0;
    return 1.0 / (1.0 - power(beta, in.update_index.load(0)));
  }
  CLOZE_DEVICE static void run(const Arguments& in) {
    if (thread() != 0) return;
    const ops::MomentAttributes& attributes = in.attributes;
    const double scale = in.gradient_scale.load(0);
    const double debias2 = debias(in, attributes.beta2);
    const double of_epsilon = attributes.debiases_epsilon ? square_root(debias2) : 1.0;
    in.numbers.store(
        0, StepNumbers{
               static_cast<float>((1.0 - attributes.beta1) * attributes.first_moment_scale * scale),
               static_cast<float>(debias(in, attributes.beta1) / attributes.first_moment_scale),
               static_cast<float>(debias2), static_cast<float>(attributes.epsilon * of_epsilon)});
  }
};

// The inputs of an update, and its constants. M: how the first moment is kept.
template <typename M>
struct Moments {
  Global<float> parameter;
  Global<M> m;
  Global<float> v;
  Global<const float> gradient, gradient_scale, learning_rate;
  Global<const float> numbers;  // StepNumbers
  int64_t count;
  float beta1, beta2, square_share2, weight_decay;

  // A scale of 0 says that the step is not finite: nothing moves.
  CLOZE_DEVICE bool is_skipped() const { return gradient_scale.load(0) == 0.0f; }
  CLOZE_DEVICE StepNumbers step() const { return numbers.template load<StepNumbers>(0); }

  // Moves the moments of element i. Returns a NaN when they are not finite, else 0.
  CLOZE_DEVICE float move_moments(const StepNumbers& step, int64_t i) const {
    const float g = gradient.load(i);
    const float scaled = g * gradient_scale.load(0);
    const M new_m = from_float<M>(fused(to_float(m.load(i)), beta1, g * step.gradient_share1));
    const float new_v = fused(v.load(i), beta2, scaled * scaled * square_share2);
    m.store(i, new_m);
    v.store(i, new_v);
    return 0.0f * to_float(new_m) + 0.0f * new_v;
  }
  // mhat / (sqrt(vhat) + epsilon) + weight_decay w, from the moments as they are kept.
  CLOZE_DEVICE float update(const StepNumbers& step, int64_t i) const {
    const float root = square_root(v.load(i) * step.debias2);
    const float direction = to_float(m.load(i)) * step.debias1 / (root + step.epsilon);
    return fused(weight_decay, parameter.load(i), direction);
  }
  // Returns a NaN when the new weight is not finite, else 0.
  CLOZE_DEVICE float move_weight(const StepNumbers& step, float rate, int64_t i) const {
    const float w = fused(-rate, update(step, i), parameter.load(i));
    parameter.store(i, w);
    return 0.0f * w;
  }
};

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
