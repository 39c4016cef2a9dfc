#include "backend/reference/activation.h"

#include <cmath>
#include <numbers>

#include "backend/reference/kernels.h"

namespace cloze::backend::reference {
namespace {

constexpr double kCubic = 0.044715;

// (1 + tanh u) / 2 is the logistic function of 2u, which keeps its digits where 1 + tanh would
// cancel. This is 2u, with u = sqrt(2/pi) (x + 0.044715 x^3), and its derivative.
double logistic_argument(double x) {
  return 2.0 * std::sqrt(2.0 / std::numbers::pi) * (x + kCubic * x * x * x);
}
double logistic_argument_slope(double x) {
  return 2.0 * std::sqrt(2.0 / std::numbers::pi) * (1.0 + 3.0 * kCubic * x * x);
}

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

}  // namespace

double gelu_value(ops::GeluForm form, double x) {
  // erfc keeps its digits where 1 + erf would cancel.
  if (form == ops::GeluForm::kErf) return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
  return x * logistic(logistic_argument(x));
}

double gelu_slope(ops::GeluForm form, double x) {
  if (form == ops::GeluForm::kErf) {
    const double density = std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
    return 0.5 * std::erfc(-x / std::numbers::sqrt2) + x * density;
  }
  const double above = logistic(logistic_argument(x));
  const double below = logistic(-logistic_argument(x));
  return above + x * above * below * logistic_argument_slope(x);
}

template <typename X>
void Gelu::run(const Call& call) {
  const ops::GeluForm form = call.attributes<ops::GeluAttributes>().form;
  const Reader<X> x = call.read<X>(kX);
  const Writer<X> y = call.write<X>(kY);
  for (int64_t i = 0; i < call.input_shape(kX).elements(); ++i) y.put(i, gelu_value(form, x[i]));
}

template <typename X>
void GeluGradient::run(const Call& call) {
  const ops::GeluForm form = call.attributes<ops::GeluAttributes>().form;
  const Reader<X> dy = call.read<X>(kDy);
  const Reader<X> x = call.read<X>(kX);
  const Writer<X> dx = call.write<X>(kDx);
  for (int64_t i = 0; i < call.input_shape(kDy).elements(); ++i) {
    dx.put(i, dy[i] * gelu_slope(form, x[i]));
  }
}

template <typename X>
void Tanh::run(const Call& call) {
  const Reader<X> x = call.read<X>(kX);
  const Writer<X> y = call.write<X>(kY);
  for (int64_t i = 0; i < call.input_shape(kX).elements(); ++i) y.put(i, std::tanh(x[i]));
}

template <typename X>
void TanhGradient::run(const Call& call) {
  const Reader<X> dy = call.read<X>(kDy);
  const Reader<X> y = call.read<X>(kY);
  const Writer<X> dx = call.write<X>(kDx);
  for (int64_t i = 0; i < call.input_shape(kDy).elements(); ++i) {
    dx.put(i, dy[i] * (1.0 - y[i] * y[i]));
  }
}

template <typename X>
void Swish::run(const Call& call) {
  const Reader<X> x = call.read<X>(kX);
  const Writer<X> y = call.write<X>(kY);
  for (int64_t i = 0; i < call.input_shape(kX).elements(); ++i) y.put(i, x[i] * logistic(x[i]));
}

template <typename X>
void SwishGradient::run(const Call& call) {
  const Reader<X> dy = call.read<X>(kDy);
  const Reader<X> x = call.read<X>(kX);
  const Writer<X> dx = call.write<X>(kDx);
  for (int64_t i = 0; i < call.input_shape(kDy).elements(); ++i) {
    dx.put(i, dy[i] * logistic(x[i]) * (1.0 + x[i] * logistic(-x[i])));
  }
}

template <typename X>
void GatedLinearUnit::run(const Call& call) {
  const Shape& shape = call.output_shape(kY);
  const Reader<X> x = call.read<X>(kX);
  const Writer<X> y = call.write<X>(kY);
  for (int64_t m = 0; m < shape[0]; ++m) {
    for (int64_t n = 0; n < shape[1]; ++n) y.put(m, n, x(m, shape[1] + n) * logistic(x(m, n)));
  }
}

template <typename X>
void GatedLinearUnitGradient::run(const Call& call) {
  const Shape& shape = call.input_shape(kDy);
  const Reader<X> dy = call.read<X>(kDy);
  const Reader<X> x = call.read<X>(kX);
  const Writer<X> dx = call.write<X>(kDx);
  for (int64_t m = 0; m < shape[0]; ++m) {
    for (int64_t n = 0; n < shape[1]; ++n) {
      const double gate = x(m, n);
      const double value = x(m, shape[1] + n);
      dx.put(m, n, dy(m, n) * value * logistic(gate) * logistic(-gate));
      dx.put(m, shape[1] + n, dy(m, n) * logistic(gate));
    }
  }
}

CLOZE_REFERENCE_INSTANTIATE(GatedLinearUnit);
CLOZE_REFERENCE_INSTANTIATE(GatedLinearUnitGradient);
CLOZE_REFERENCE_INSTANTIATE(Gelu);
CLOZE_REFERENCE_INSTANTIATE(GeluGradient);
CLOZE_REFERENCE_INSTANTIATE(Swish);
CLOZE_REFERENCE_INSTANTIATE(SwishGradient);
CLOZE_REFERENCE_INSTANTIATE(Tanh);
CLOZE_REFERENCE_INSTANTIATE(TanhGradient);

}  // namespace cloze::backend::reference
