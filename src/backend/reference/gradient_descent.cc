#include "ops/gradient_descent.h"

#include <cmath>
#include <limits>

#include "backend/reference/kernels.h"

namespace cloze::backend::reference {
namespace {

CLOZE_REFERENCE_KERNEL(Sgd, Sgd);
CLOZE_REFERENCE_KERNEL(Momentum, Momentum);

void check_finite(double value, double& check) {
  if (!std::isfinite(value)) check = std::numeric_limits<double>::quiet_NaN();
}

// w -= lr (direction + weight_decay w); direction(i) is g or the stored velocity.
template <class Update, typename P, class Direction>
void descend(const Call& call, Direction&& direction) {
  const double weight_decay = call.attributes<ops::GradientDescentAttributes>().weight_decay;
  const double learning_rate = call.read<P>(Update::kLearningRate)[0];
  const Reader<P> parameter = call.read<P>(Update::kParameter);
  const Writer<P> moved = call.mutate<P>(Update::kParameter);
  double check = call.read<P>(Update::kCheck)[0];
  for (int64_t i = 0; i < call.input_shape(Update::kParameter).elements(); ++i) {
    const double step = direction(i);
    moved.put(i, parameter[i] - learning_rate * (step + weight_decay * parameter[i]));
    check_finite(step, check);
    check_finite(parameter[i], check);
  }
  call.mutate<P>(Update::kCheck).put(0, check);
}

}  // namespace

template <typename X>
void Sgd::run(const Call& call) {
  using P = Parameter<X>;
  const double scale = call.read<P>(kGradientScale)[0];
  if (scale == 0.0) return;  // the step is not finite: nothing moves
  const Reader<P> gradient = call.read<P>(kGradient);
  descend<Sgd, P>(call, [&](int64_t i) { return scale * gradient[i]; });
}

template <typename X>
void Momentum::run(const Call& call) {
  using P = Parameter<X>;
  const double scale = call.read<P>(kGradientScale)[0];
  if (scale == 0.0) return;
  const double momentum = call.attributes<ops::GradientDescentAttributes>().momentum;
  const Reader<P> gradient = call.read<P>(kGradient);
  const Reader<P> velocity = call.read<P>(kVelocity);
  const Writer<P> moved = call.mutate<P>(kVelocity);
  descend<Momentum, P>(call, [&](int64_t i) {
    moved.put(i, momentum * velocity[i] + scale * gradient[i]);
    return velocity[i];
  });
}

KernelTable gradient_descent_kernels() { return table_of<Sgd, Momentum>(); }

}  // namespace cloze::backend::reference
