#include "backend/reference/kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/optimizer_update.h"

namespace cloze::backend::reference {
namespace {

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
    return mhat / (std::sqrt(vhat) + attributes_.epsilon) +
           attributes_.weight_decay * parameter_[i];
  }

  // w -= learning rate * ratio * update
  void move(double ratio) const {
    for (int64_t i = 0; i < elements_; ++i) {
      new_parameter_.put(i, parameter_[i] - learning_rate_ * ratio * update(i));
    }
  }

  void check() const {
    for (int64_t i = 0; i < elements_; ++i) {
      if (!std::isfinite(parameter_[i]) || !std::isfinite(m_[i]) || !std::isfinite(v_[i])) {
        check_.put(0, std::numeric_limits<double>::quiet_NaN());
      }
    }
  }

 private:
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

template <typename X>
double trust_ratio(const Moments<X>& moments, double max_norm) {
  double parameter_squares = 0.0;
  double update_squares = 0.0;
  for (int64_t i = 0; i < moments.elements(); ++i) {
    parameter_squares += moments.parameter(i) * moments.parameter(i);
    update_squares += moments.update(i) * moments.update(i);
  }
  if (parameter_squares == 0.0 || update_squares == 0.0) return 1.0;
  const double norm = std::sqrt(parameter_squares);
  return (max_norm > 0.0 ? std::min(norm, max_norm) : norm) / std::sqrt(update_squares);
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
  moments.move(attributes.adapts ? trust_ratio(moments, attributes.max_weight_norm) : 1.0);
  moments.check();
}

template <typename X>
void AdamW::run(const Call& call) {
  const Moments<X> moments(call);
  if (moments.is_skipped()) return;
  moments.update_moments();
  moments.move(1.0);
  moments.check();
}

CLOZE_REFERENCE_INSTANTIATE(GlobalNorm);
CLOZE_REFERENCE_INSTANTIATE(GradientScale);
CLOZE_REFERENCE_INSTANTIATE(Lamb);
CLOZE_REFERENCE_INSTANTIATE(AdamW);

}  // namespace cloze::backend::reference
