// sgd and momentum pass over memory once.
#include "ops/gradient_descent.h"

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/gradient_descent.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/vector_sums-inl.h"

#ifndef CLOZE_BACKEND_CPU_GRADIENT_DESCENT_ONCE_
#define CLOZE_BACKEND_CPU_GRADIENT_DESCENT_ONCE_
namespace cloze::backend::cpu {

struct DescentStep {
  float gradient_scale = 0.0f;  // 0: nothing moves
  float momentum = 0.0f;
  float weight_decay = 0.0f;
  float learning_rate = 0.0f;
};

// What a part of an update reads and writes. velocity: null for sgd.
struct DescentElements {
  float* parameter;
  float* velocity;
  const float* gradient;
};

}  // namespace cloze::backend::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class Lanes>
HWY_INLINE FloatVector Direction(const DescentStep& step, const DescentElements& elements,
                                 int64_t i, Lanes part) {
  const FloatTag d;
  const FloatVector g =
      hn::Mul(LoadFloats(d, elements.gradient + i, part), hn::Set(d, step.gradient_scale));
  if (elements.velocity == nullptr) return g;
  const FloatVector old = LoadFloats(d, elements.velocity + i, part);
  const FloatVector velocity = hn::MulAdd(old, hn::Set(d, step.momentum), g);
  StoreFloats(d, velocity, elements.velocity + i, part);
  return velocity;
}

// Returns whether everything it wrote is finite.
bool DescentPart(const DescentStep& step, const DescentElements& elements, int64_t count) {
  const FloatTag d;
  ZeroSum zeros;
  ForEachVector(d, count, [&](int64_t i, auto part) HWY_ATTR {
    const FloatVector direction = Direction(step, elements, i, part);
    const FloatVector w = LoadFloats(d, elements.parameter + i, part);
    const FloatVector update = hn::MulAdd(hn::Set(d, step.weight_decay), w, direction);
    const FloatVector moved = hn::NegMulAdd(hn::Set(d, step.learning_rate), update, w);
    StoreFloats(d, moved, elements.parameter + i, part);
    zeros.Add(Keep(d, direction, part));
    zeros.Add(Keep(d, moved, part));
  });
  return zeros.IsFinite();
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {
namespace {

HWY_EXPORT(DescentPart);

// Update: ops::Sgd or ops::Momentum.
template <class Update>
class DescentKernel final : public Kernel {
 public:
  explicit DescentKernel(const KernelRequest& request) : request_(request) {}

  void run(const KernelArguments& arguments, Stream&) override {
    const DescentStep step = step_of(arguments);
    if (step.gradient_scale == 0.0f) return;
    FiniteCheck check(arguments.input<float>(Update::kCheck));
    const int64_t elements = request_.inputs[Update::kParameter].shape.elements();
    for_each_part(element_work(request_, elements), [&](const Part& part) {
      check.add(
          HWY_DYNAMIC_DISPATCH(DescentPart)(step, elements_of(arguments, part.begin), part.size()));
    });
  }

 private:
  DescentStep step_of(const KernelArguments& arguments) const {
    const auto& attributes = request_.attributes_as<ops::GradientDescentAttributes>();
    return {.gradient_scale = *arguments.input<float>(Update::kGradientScale),
            .momentum = static_cast<float>(attributes.momentum),
            .weight_decay = static_cast<float>(attributes.weight_decay),
            .learning_rate = *arguments.input<float>(Update::kLearningRate)};
  }
  static DescentElements elements_of(const KernelArguments& arguments, int64_t begin) {
    float* velocity = nullptr;
    if constexpr (requires { Update::kVelocity; }) {
      velocity = arguments.input<float>(Update::kVelocity) + begin;
    }
    return {.parameter = arguments.input<float>(Update::kParameter) + begin,
            .velocity = velocity,
            .gradient = arguments.input<const float>(Update::kGradient) + begin};
  }

  KernelRequest request_;
};

constexpr KernelRow kRows[] = {
    {&ops::kSgd, "vector", refuse_unless_f32, create_kernel<DescentKernel<ops::Sgd>>},
    {&ops::kMomentum, "vector", refuse_unless_f32, create_kernel<DescentKernel<ops::Momentum>>},
};

}  // namespace

KernelTable gradient_descent_kernels() { return kRows; }

}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE
