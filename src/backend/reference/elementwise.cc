#include "backend/reference/elementwise.h"

#include <cmath>
#include <numbers>
#include <type_traits>

#include "backend/reference/kernels.h"
#include "ops/elementwise.h"
#include "ops/gated_linear_unit.h"
#include "ops/swish.h"
#include "ops/tanh.h"

namespace cloze::backend::reference {
namespace {

CLOZE_REFERENCE_KERNEL(Accumulate, Accumulate);
CLOZE_REFERENCE_KERNEL(Add, Add);
CLOZE_REFERENCE_KERNEL(GatedLinearUnit, GatedLinearUnit);
CLOZE_REFERENCE_KERNEL(GatedLinearUnitGradient, GatedLinearUnitGradient);
CLOZE_REFERENCE_KERNEL(Gelu, Gelu);
CLOZE_REFERENCE_KERNEL(GeluGradient, GeluGradient);
CLOZE_REFERENCE_KERNEL(Swish, Swish);
CLOZE_REFERENCE_KERNEL(SwishGradient, SwishGradient);
CLOZE_REFERENCE_KERNEL(Tanh, Tanh);
CLOZE_REFERENCE_KERNEL(TanhGradient, TanhGradient);

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

// y = f(x) element by element, or y = f(a, b), by how many f takes. Every operator here has y as its
// only output, and as inputs those of f, in their order.
template <typename X, typename Function>
void map(const Call& call, const Function& function) {
  const Reader<X> a = call.read<X>(0);
  const Writer<X> y = call.write<X>(0);
  for (int64_t i = 0; i < call.output_shape(0).elements(); ++i) {
    if constexpr (std::is_invocable_v<Function, double>) {
      y.put(i, function(a[i]));
    } else {
      y.put(i, function(a[i], call.read<X>(1)[i]));
    }
  }
}

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
void Add::run(const Call& call) {
  map<X>(call, [](double a, double b) { return a + b; });
}

template <typename X>
void Accumulate::run(const Call& call) {
  map<X>(call, [](double x) { return x; });
}

template <typename X>
void Gelu::run(const Call& call) {
  const ops::GeluForm form = call.attributes<ops::GeluAttributes>().form;
  map<X>(call, [form](double x) { return gelu_value(form, x); });
}

template <typename X>
void GeluGradient::run(const Call& call) {
  const ops::GeluForm form = call.attributes<ops::GeluAttributes>().form;
  map<X>(call, [form](double dy, double x) { return dy * gelu_slope(form, x); });
}

template <typename X>
void Tanh::run(const Call& call) {
  map<X>(call, [](double x) { return std::tanh(x); });
}

template <typename X>
void TanhGradient::run(const Call& call) {
  map<X>(call, [](double dy, double y) { return dy * (1.0 - y * y); });
}

template <typename X>
void Swish::run(const Call& call) {
  map<X>(call, [](double x) { return x * logistic(x); });
}

template <typename X>
void SwishGradient::run(const Call& call) {
  map<X>(call, [](double dy, double x) { return dy * logistic(x) * (1.0 + x * logistic(-x)); });
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

KernelTable elementwise_kernels() {
  return table_of<Accumulate, Add, GatedLinearUnit, GatedLinearUnitGradient, Gelu, GeluGradient,
                  Swish, SwishGradient, Tanh, TanhGradient>();
}

}  // namespace cloze::backend::reference
