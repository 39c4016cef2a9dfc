// adamw passes over memory once. lamb needs the norms of parameter and update first: the first
// pass writes the moments and sums the squares of both, the second computes the update again from
// the moments, which is cheaper than storing it; lamb_norms is the first pass alone, lamb_move the
// second. All check that what they write is finite while they have it at hand: reading it again
// would cost as much as the update.
#include "ops/optimizer_update.h"

#include <algorithm>
#include <cmath>

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/storage.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/optimizer_update.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/vector_sums-inl.h"

#ifndef CLOZE_BACKEND_CPU_OPTIMIZER_UPDATE_ONCE_
#define CLOZE_BACKEND_CPU_OPTIMIZER_UPDATE_ONCE_
namespace cloze::backend::cpu {

// The numbers of one update by lamb or adamw, computed in double and rounded once.
struct MomentStep {
  DType first_moment = DType::kF32;
  float beta1 = 0.0f;
  float gradient_share1 = 0.0f;  // (1 - beta1) gradient_scale, times first_moment_scale
  float beta2 = 0.0f;
  float square_share2 = 0.0f;  // 1 - beta2
  float gradient_scale = 0.0f;
  float debias1 = 1.0f;  // 1 / (1 - beta1^t) / first_moment_scale
  float debias2 = 1.0f;  // 1 / (1 - beta2^t)
  float epsilon = 0.0f;
  float weight_decay = 0.0f;
  float learning_rate = 0.0f;

  // A scale of 0 says that the step is not finite: nothing moves.
  bool is_skipped() const { return gradient_scale == 0.0f; }
};

inline MomentStep moment_step(const KernelRequest& request, const KernelArguments& arguments) {
  using Op = ops::OptimizerUpdate;
  const auto& attributes = request.attributes_as<ops::MomentAttributes>();
  const float scale = *arguments.input<float>(Op::kGradientScale);
  const int32_t update_index = *arguments.input<int32_t>(Op::kUpdateIndex);
  const auto debias = [&](double beta) {
    return attributes.use_debiasing ? 1.0 / (1.0 - std::pow(beta, update_index)) : 1.0;
  };
  const double debias2 = debias(attributes.beta2);
  const double of_epsilon = attributes.debiases_epsilon ? std::sqrt(debias2) : 1.0;
  return {.first_moment = request.inputs[Op::kM].dtype,
          .beta1 = static_cast<float>(attributes.beta1),
          .gradient_share1 =
              static_cast<float>((1.0 - attributes.beta1) * attributes.first_moment_scale * scale),
          .beta2 = static_cast<float>(attributes.beta2),
          .square_share2 = static_cast<float>(1.0 - attributes.beta2),
          .gradient_scale = scale,
          .debias1 = static_cast<float>(debias(attributes.beta1) / attributes.first_moment_scale),
          .debias2 = static_cast<float>(debias2),
          .epsilon = static_cast<float>(attributes.epsilon * of_epsilon),
          .weight_decay = static_cast<float>(attributes.weight_decay),
          .learning_rate = *arguments.input<float>(Op::kLearningRate)};
}

}  // namespace cloze::backend::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {
namespace {

struct Moments {
  FloatVector m, v;  // m as it is kept, times first_moment_scale
};

// m and v after the gradient g.
HWY_INLINE Moments Moved(const MomentStep& step, Moments old, FloatVector g) {
  const FloatTag d;
  const FloatVector scaled = hn::Mul(g, hn::Set(d, step.gradient_scale));
  const FloatVector share = hn::Mul(hn::Mul(scaled, scaled), hn::Set(d, step.square_share2));
  return {hn::MulAdd(old.m, hn::Set(d, step.beta1), hn::Mul(g, hn::Set(d, step.gradient_share1))),
          hn::MulAdd(old.v, hn::Set(d, step.beta2), share)};
}

// mhat / (sqrt(vhat) + epsilon) + weight_decay w
HWY_INLINE FloatVector Update(const MomentStep& step, Moments moments, FloatVector w) {
  const FloatTag d;
  const FloatVector root = hn::Sqrt(hn::Mul(moments.v, hn::Set(d, step.debias2)));
  const FloatVector mhat = hn::Mul(moments.m, hn::Set(d, step.debias1));
  const FloatVector direction = hn::Div(mhat, hn::Add(root, hn::Set(d, step.epsilon)));
  return hn::MulAdd(hn::Set(d, step.weight_decay), w, direction);
}

// parameter, m, v, gradient of a part of the elements. M: the type in which m is kept.
template <class M>
struct Elements {
  Elements(const KernelArguments& arguments, Part part)
      : w(arguments.input<float>(ops::OptimizerUpdate::kParameter) + part.begin),
        m(arguments.input<M>(ops::OptimizerUpdate::kM) + part.begin),
        v(arguments.input<float>(ops::OptimizerUpdate::kV) + part.begin),
        g(arguments.input<float>(ops::OptimizerUpdate::kGradient) + part.begin) {}

  float* w;
  M* m;
  float* v;
  const float* g;
};

template <class M, class Lanes>
HWY_INLINE Moments LoadMoments(const Elements<M>& elements, int64_t i, Lanes part) {
  const FloatTag d;
  return {LoadFloats(d, elements.m + i, part), LoadFloats(d, elements.v + i, part)};
}

template <class M, class Lanes>
HWY_INLINE Moments MoveMoments(const MomentStep& step, const Elements<M>& elements, int64_t i,
                               Lanes part, ZeroSum& zeros) {
  const FloatTag d;
  Moments moments =
      Moved(step, LoadMoments(elements, i, part), LoadFloats(d, elements.g + i, part));
  StoreFloats(d, moments.m, elements.m + i, part);
  StoreFloats(d, moments.v, elements.v + i, part);
  if constexpr (HalfFloat<M>) moments.m = LoadFloats(d, elements.m + i, part);
  zeros.Add(moments.m);
  zeros.Add(moments.v);
  return moments;
}

// w -= rate * update
template <class Lanes>
HWY_INLINE void MoveWeights(const MomentStep& step, Moments moments, FloatVector rate, float* w,
                            Lanes part, ZeroSum& zeros) {
  const FloatTag d;
  const FloatVector old = LoadFloats(d, w, part);
  const FloatVector moved = hn::NegMulAdd(rate, Update(step, moments, old), old);
  StoreFloats(d, moved, w, part);
  zeros.Add(Keep(d, moved, part));
}

// The parts return whether everything they wrote is finite.
template <class M>
bool AdamW(const MomentStep& step, const Elements<M>& elements, Part range) {
  const FloatTag d;
  const FloatVector rate = hn::Set(d, step.learning_rate);
  ZeroSum zeros;
  ForEachVector(d, range.size(), [&](int64_t i, auto part) HWY_ATTR {
    const Moments moments = MoveMoments(step, elements, i, part, zeros);
    MoveWeights(step, moments, rate, elements.w + i, part, zeros);
  });
  return zeros.IsFinite();
}

// squares: of the parameter and of the update, summed over the part.
template <class M>
bool LambFirst(const MomentStep& step, const Elements<M>& elements, Part range, double* squares) {
  const FloatTag d;
  SquareSum parameter_squares;
  SquareSum update_squares;
  ZeroSum zeros;
  ForEachVector(d, range.size(), [&](int64_t i, auto part) HWY_ATTR {
    const Moments moments = MoveMoments(step, elements, i, part, zeros);
    const FloatVector w = LoadFloats(d, elements.w + i, part);
    parameter_squares.Add(w);
    update_squares.Add(Keep(d, Update(step, moments, w), part));
  });
  squares[0] = parameter_squares.Total();
  squares[1] = update_squares.Total();
  return zeros.IsFinite();
}

// From the moments as they are stored.
template <class M>
bool LambSecond(const MomentStep& step, const Elements<M>& elements, Part range, float rate) {
  const FloatTag d;
  const FloatVector rates = hn::Set(d, rate);
  ZeroSum zeros;
  ForEachVector(d, range.size(), [&](int64_t i, auto part) HWY_ATTR {
    MoveWeights(step, LoadMoments(elements, i, part), rates, elements.w + i, part, zeros);
  });
  return zeros.IsFinite();
}

// Dispatches on the dtype in which m is kept.
bool AdamWPart(const MomentStep& step, const KernelArguments& arguments, Part range) {
  return with_storage(step.first_moment, [&]<class M>(Storage<M>) HWY_ATTR {
    return AdamW(step, Elements<M>(arguments, range), range);
  });
}

bool LambFirstPart(const MomentStep& step, const KernelArguments& arguments, Part range,
                   double* squares) {
  return with_storage(step.first_moment, [&]<class M>(Storage<M>) HWY_ATTR {
    return LambFirst(step, Elements<M>(arguments, range), range, squares);
  });
}

bool LambSecondPart(const MomentStep& step, const KernelArguments& arguments, Part range,
                    float rate) {
  return with_storage(step.first_moment, [&]<class M>(Storage<M>) HWY_ATTR {
    return LambSecond(step, Elements<M>(arguments, range), range, rate);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {
namespace {

HWY_EXPORT(AdamWPart);
HWY_EXPORT(LambFirstPart);
HWY_EXPORT(LambSecondPart);

class AdamWKernel final : public Kernel {
 public:
  explicit AdamWKernel(const KernelRequest& request) : request_(request) {}

  void run(const KernelArguments& arguments, Stream&) override {
    const MomentStep step = moment_step(request_, arguments);
    if (step.is_skipped()) return;
    const int64_t elements = request_.inputs[ops::OptimizerUpdate::kParameter].shape.elements();
    FiniteCheck check(arguments.input<float>(ops::OptimizerUpdate::kCheck));
    for_each_part(element_work(request_, elements), [&](const Part& part) {
      check.add(HWY_DYNAMIC_DISPATCH(AdamWPart)(step, arguments, part));
    });
  }

 private:
  KernelRequest request_;
};

struct LambNorms {
  double parameter = 0.0, update = 0.0;

  double trust_ratio(double max_parameter) const {
    if (parameter == 0.0 || update == 0.0) return 1.0;
    return (max_parameter > 0.0 ? std::min(parameter, max_parameter) : parameter) / update;
  }
};

// The two passes of lamb. Sums of squares are kept per block of a fixed size and added in order, so
// the trust ratio is the same for any number of threads.
class LambPasses {
 public:
  explicit LambPasses(const KernelRequest& request)
      : work_{.items = request.inputs[ops::OptimizerUpdate::kParameter].shape.elements(),
              .granularity = kLambBlockElements,
              .num_threads = host::threads_of(request)} {}

  size_t workspace_bytes() const { return static_cast<size_t>(num_blocks()) * 2 * sizeof(double); }

  LambNorms first(const MomentStep& step, const KernelArguments& arguments,
                  FiniteCheck& check) const {
    double* squares = arguments.workspace.as<double>();
    for_each_part(work_, [&](const Part& part) {
      for (int64_t begin = part.begin; begin < part.end; begin += kLambBlockElements) {
        const Part block{begin, std::min(begin + kLambBlockElements, part.end)};
        check.add(HWY_DYNAMIC_DISPATCH(LambFirstPart)(step, arguments, block,
                                                      squares + begin / kLambBlockElements * 2));
      }
    });
    LambNorms sums;
    for (int64_t block = 0; block < num_blocks(); ++block) {
      sums.parameter += squares[2 * block];
      sums.update += squares[2 * block + 1];
    }
    return {std::sqrt(sums.parameter), std::sqrt(sums.update)};
  }

  void second(const MomentStep& step, const KernelArguments& arguments, double trust_ratio,
              FiniteCheck& check) const {
    const auto rate = static_cast<float>(step.learning_rate * trust_ratio);
    for_each_part(work_, [&](const Part& part) {
      check.add(HWY_DYNAMIC_DISPATCH(LambSecondPart)(step, arguments, part, rate));
    });
  }

 private:
  int64_t num_blocks() const { return divide_up(work_.items, kLambBlockElements); }

  Work work_;
};

double max_weight_norm(const KernelRequest& request) {
  return request.attributes_as<ops::MomentAttributes>().max_weight_norm;
}

class LambKernel final : public Kernel {
 public:
  explicit LambKernel(const KernelRequest& request) : request_(request), passes_(request) {}

  size_t workspace_bytes() const override { return passes_.workspace_bytes(); }

  void run(const KernelArguments& arguments, Stream&) override {
    const MomentStep step = moment_step(request_, arguments);
    if (step.is_skipped()) return;
    FiniteCheck check(arguments.input<float>(ops::OptimizerUpdate::kCheck));
    const LambNorms norms = passes_.first(step, arguments, check);
    passes_.second(step, arguments, norms.trust_ratio(max_weight_norm(request_)), check);
  }

 private:
  KernelRequest request_;
  LambPasses passes_;
};

class LambNormsKernel final : public Kernel {
 public:
  explicit LambNormsKernel(const KernelRequest& request) : request_(request), passes_(request) {}

  size_t workspace_bytes() const override { return passes_.workspace_bytes(); }

  void run(const KernelArguments& arguments, Stream&) override {
    const MomentStep step = moment_step(request_, arguments);
    LambNorms norms;
    if (!step.is_skipped()) {
      FiniteCheck check(arguments.input<float>(ops::OptimizerUpdate::kCheck));
      norms = passes_.first(step, arguments, check);
    }
    float* written = arguments.output<float>(ops::LambNorms::kNorms);
    written[0] = static_cast<float>(norms.parameter);
    written[1] = static_cast<float>(norms.update);
  }

 private:
  KernelRequest request_;
  LambPasses passes_;
};

class LambMoveKernel final : public Kernel {
 public:
  explicit LambMoveKernel(const KernelRequest& request) : request_(request), passes_(request) {}

  void run(const KernelArguments& arguments, Stream&) override {
    const MomentStep step = moment_step(request_, arguments);
    if (step.is_skipped()) return;
    FiniteCheck check(arguments.input<float>(ops::OptimizerUpdate::kCheck));
    LambNorms joined;
    for (size_t input = ops::LambMove::kNorms; input < request_.inputs.size(); ++input) {
      const float* norms = arguments.input<float>(input);
      joined.parameter = std::hypot(joined.parameter, norms[0]);
      joined.update = std::hypot(joined.update, norms[1]);
    }
    passes_.second(step, arguments, joined.trust_ratio(max_weight_norm(request_)), check);
  }

 private:
  KernelRequest request_;
  LambPasses passes_;
};

std::unique_ptr<Kernel> create_lamb(const KernelRequest& request) {
  // Without the trust ratio, lamb is the update of adamw.
  const bool adapts = request.attributes_as<ops::MomentAttributes>().adapts;
  return adapts ? create_kernel<LambKernel>(request) : create_kernel<AdamWKernel>(request);
}

// All f32, but for the first moment.
std::optional<std::string> refuse(const KernelRequest& request) {
  KernelRequest others = request;
  others.inputs[ops::OptimizerUpdate::kM].dtype = DType::kF32;
  if (const auto refusal = refuse_unless_f32(others)) return refusal;
  return refuse_other_storage<ops::OptimizerUpdate::kM>(request);
}

constexpr KernelRow kRows[] = {
    {&ops::kAdamW, "vector", refuse, create_kernel<AdamWKernel>},
    {&ops::kLamb, "vector", refuse, create_lamb},
    {&ops::kLambNorms, "vector", refuse, create_kernel<LambNormsKernel>},
    {&ops::kLambMove, "vector", refuse, create_kernel<LambMoveKernel>},
};

}  // namespace

KernelTable optimizer_update_kernels() { return kRows; }

}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE
