#include "ops/optimizer_update.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/reference/kernels.h"

namespace cloze::backend::reference {
namespace {

CLOZE_REFERENCE_KERNEL(GlobalNorm, GlobalNorm);
CLOZE_REFERENCE_KERNEL(GradientScale, GradientScale);
CLOZE_REFERENCE_KERNEL(Lamb, OptimizerUpdate);
CLOZE_REFERENCE_KERNEL(LambNorms, LambNorms);
CLOZE_REFERENCE_KERNEL(LambMove, LambMove);
CLOZE_REFERENCE_KERNEL(AdamW, OptimizerUpdate);

// The inputs of lamb and adamw, and the part of the update they share. m alone may be a half: X.
template <typename X>
class Moments : ops::OptimizerUpdate {
  using P = Parameter<X>;

 public:
  explicit Moments(const Call& call)
      : attributes_(call.attributes<ops::MomentAttributes>()),
        elements_(call.input_shape(kParameter).elements()),
        parameter_(call.read<P>(kParameter)),
        m_(call.read<X>(kM)),
        v_(call.read<P>(kV)),
        gradient_(call.read<P>(kGradient)),
        new_parameter_(call.mutate<P>(kParameter)),
        new_m_(call.mutate<X>(kM)),
        new_v_(call.mutate<P>(kV)),
        check_(call.mutate<P>(kCheck)),
        gradient_scale_(call.read<P>(kGradientScale)[0]),
        learning_rate_(call.read<P>(kLearningRate)[0]),
        update_index_(call.integers(kUpdateIndex)[0]) {}

  int64_t elements() const { return elements_; }
  double parameter(int64_t i) const { return parameter_[i]; }
  // A scale of 0 says that the step is not finite: nothing moves.
  bool is_skipped() const { return gradient_scale_ == 0.0; }

  void update_moments() const {
    for (int64_t i = 0; i < elements_; ++i) {
      const double g = gradient_scale_ * gradient_[i];
      new_m_.put(i, attributes_.beta1 * m_[i] +
                        (1.0 - attributes_.beta1) * attributes_.first_moment_scale * g);
      new_v_.put(i, attributes_.beta2 * v_[i] + (1.0 - attributes_.beta2) * g * g);
    }
  }

  // mhat / (sqrt(vhat) + epsilon) + weight_decay * w, from the moments as they are stored.
  double update(int64_t i) const {
    const double mhat = m_[i] / attributes_.first_moment_scale / correction(attributes_.beta1);
    const double vhat = v_[i] / correction(attributes_.beta2);
    return mhat / (std::sqrt(vhat) + epsilon()) + attributes_.weight_decay * parameter_[i];
  }

  // w -= learning rate * ratio * update
  void move(double ratio) const {
    for (int64_t i = 0; i < elements_; ++i) {
      new_parameter_.put(i, parameter_[i] - learning_rate_ * ratio * update(i));
    }
  }

  void check_moments() const {
    for (int64_t i = 0; i < elements_; ++i) check_finite(m_[i] + v_[i]);
  }
  void check_parameter() const {
    for (int64_t i = 0; i < elements_; ++i) check_finite(parameter_[i]);
  }

 private:
  void check_finite(double value) const {
    if (!std::isfinite(value)) check_.put(0, std::numeric_limits<double>::quiet_NaN());
  }
  double epsilon() const {
    const double epsilon = attributes_.epsilon;
    return attributes_.debiases_epsilon ? epsilon / std::sqrt(correction(attributes_.beta2))
                                        : epsilon;
  }
  double correction(double beta) const {
    return attributes_.use_debiasing ? 1.0 - std::pow(beta, update_index_) : 1.0;
  }

  const ops::MomentAttributes& attributes_;
  int64_t elements_;
  Reader<P> parameter_;
  Reader<X> m_;
  Reader<P> v_, gradient_;
  Writer<P> new_parameter_;
  Writer<X> new_m_;
  Writer<P> new_v_, check_;
  double gradient_scale_, learning_rate_;
  int32_t update_index_;
};

struct Norms {
  double parameter = 0.0, update = 0.0;
};

template <typename X>
Norms norms_of(const Moments<X>& moments) {
  double parameter_squares = 0.0;
  double update_squares = 0.0;
  for (int64_t i = 0; i < moments.elements(); ++i) {
    parameter_squares += moments.parameter(i) * moments.parameter(i);
    update_squares += moments.update(i) * moments.update(i);
  }
  return {std::sqrt(parameter_squares), std::sqrt(update_squares)};
}

double trust_ratio(const Norms& norms, double max_norm) {
  if (norms.parameter == 0.0 || norms.update == 0.0) return 1.0;
  return (max_norm > 0.0 ? std::min(norms.parameter, max_norm) : norms.parameter) / norms.update;
}

}  // namespace

template <typename X>
void GlobalNorm::run(const Call& call) {
  double squares = 0.0;
  for (size_t input = 0; input < call.request.inputs.size(); ++input) {
    const Reader<Parameter<X>> values = call.read<Parameter<X>>(input);
    for (int64_t i = 0; i < call.input_shape(input).elements(); ++i) {
      squares += values[i] * values[i];
    }
  }
  call.write<Parameter<X>>(kNorm).put(0, std::sqrt(squares));
}

template <typename X>
void GradientScale::run(const Call& call) {
  const double max_norm = call.attributes<ops::GradientScaleAttributes>().max_norm;
  const double loss_scale = call.read<Parameter<X>>(kLossScale)[0];
  const double norm = call.read<Parameter<X>>(kNorm)[0] / loss_scale;
  double scale = (max_norm > 0.0 ? max_norm / std::max(norm, max_norm) : 1.0) / loss_scale;
  for (size_t input = 0; input < call.request.inputs.size(); ++input) {
    if (!std::isfinite(call.read<Parameter<X>>(input)[0])) scale = 0.0;
  }
  call.write<Parameter<X>>(kScale).put(0, scale);
}

template <typename X>
void Lamb::run(const Call& call) {
  const Moments<X> moments(call);
  if (moments.is_skipped()) return;
  moments.update_moments();
  const auto& attributes = call.attributes<ops::MomentAttributes>();
  moments.move(attributes.adapts ? trust_ratio(norms_of(moments), attributes.max_weight_norm)
                                 : 1.0);
  moments.check_moments();
  moments.check_parameter();
}

template <typename X>
void LambNorms::run(const Call& call) {
  const Moments<X> moments(call);
  Norms norms;
  if (!moments.is_skipped()) {
    moments.update_moments();
    moments.check_moments();
    norms = norms_of(moments);
  }
  const Writer<Parameter<X>> written = call.write<Parameter<X>>(kNorms);
  written.put(0, norms.parameter);
  written.put(1, norms.update);
}

template <typename X>
void LambMove::run(const Call& call) {
  const Moments<X> moments(call);
  if (moments.is_skipped()) return;
  Norms all;
  for (size_t input = kNorms; input < call.request.inputs.size(); ++input) {
    const Reader<Parameter<X>> norms = call.read<Parameter<X>>(input);
    all.parameter = std::hypot(all.parameter, norms[0]);
    all.update = std::hypot(all.update, norms[1]);
  }
  moments.move(trust_ratio(all, call.attributes<ops::MomentAttributes>().max_weight_norm));
  moments.check_parameter();
}

template <typename X>
void AdamW::run(const Call& call) {
  const Moments<X> moments(call);
  if (moments.is_skipped()) return;
  moments.update_moments();
  moments.move(1.0);
  moments.check_moments();
  moments.check_parameter();
}

KernelTable optimizer_update_kernels() {
  return table_of<GlobalNorm, GradientScale, Lamb, LambNorms, LambMove, AdamW>();
}

}  // namespace cloze::backend::reference
