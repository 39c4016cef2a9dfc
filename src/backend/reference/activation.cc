#include "backend/reference/activation.h"

#include <cmath>
#include <numbers>

namespace cloze::backend::reference {
namespace {

constexpr double kCubic = 0.044715;

// The argument of the tanh form, sqrt(2/pi) (x + 0.044715 x^3), and its derivative.
double tanh_argument(double x) {
  return std::sqrt(2.0 / std::numbers::pi) * (x + kCubic * x * x * x);
}
double tanh_argument_slope(double x) {
  return std::sqrt(2.0 / std::numbers::pi) * (1.0 + 3.0 * kCubic * x * x);
}

}  // namespace

double gelu_value(ops::GeluForm form, double x) {
  // erfc keeps its digits where 1 + erf would cancel.
  if (form == ops::GeluForm::kErf) return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
  return 0.5 * x * (1.0 + std::tanh(tanh_argument(x)));
}

double gelu_slope(ops::GeluForm form, double x) {
  if (form == ops::GeluForm::kErf) {
    const double density = std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
    return 0.5 * std::erfc(-x / std::numbers::sqrt2) + x * density;
  }
  const double t = std::tanh(tanh_argument(x));
  return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * tanh_argument_slope(x);
}

template <typename X>
void Gelu::run(const Call& call) {
  const ops::GeluForm form = call.attributes<ops::GeluAttributes>().form;
  const Reader<X> x = call.read<X>(0);
  const Writer<X> y = call.write<X>(0);
  for (int64_t i = 0; i < call.input_shape(0).elements(); ++i) y.put(i, gelu_value(form, x[i]));
}

template <typename X>
void GeluGradient::run(const Call& call) {
  const ops::GeluForm form = call.attributes<ops::GeluAttributes>().form;
  const Reader<X> dy = call.read<X>(0);
  const Reader<X> x = call.read<X>(1);
  const Writer<X> dx = call.write<X>(0);
  for (int64_t i = 0; i < call.input_shape(0).elements(); ++i) {
    dx.put(i, dy[i] * gelu_slope(form, x[i]));
  }
}

template <typename X>
void Tanh::run(const Call& call) {
  const Reader<X> x = call.read<X>(0);
  const Writer<X> y = call.write<X>(0);
  for (int64_t i = 0; i < call.input_shape(0).elements(); ++i) y.put(i, std::tanh(x[i]));
}

template <typename X>
void TanhGradient::run(const Call& call) {
  const Reader<X> dy = call.read<X>(0);
  const Reader<X> y = call.read<X>(1);
  const Writer<X> dx = call.write<X>(0);
  for (int64_t i = 0; i < call.input_shape(0).elements(); ++i) {
    dx.put(i, dy[i] * (1.0 - y[i] * y[i]));
  }
}

CLOZE_REFERENCE_INSTANTIATE(Gelu);
CLOZE_REFERENCE_INSTANTIATE(GeluGradient);
CLOZE_REFERENCE_INSTANTIATE(Tanh);
CLOZE_REFERENCE_INSTANTIATE(TanhGradient);

}  // namespace cloze::backend::reference
