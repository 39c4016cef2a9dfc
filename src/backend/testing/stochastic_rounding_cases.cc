#include "ops/stochastic_rounding.h"

#include <cmath>

#include "backend/testing/kernel_case.h"
#include "backend/testing/kernel_sweep.h"

namespace cloze::backend::testing {
namespace {

void add_cases(std::vector<KernelCase>& cases, const Shape& shape) {
  for (const char* name : {"normal numbers", "one infinite", "no update"}) {
    cases.push_back({.name = name,
                     .op = &ops::kStochasticRounding,
                     .attributes = ops::StochasticRoundingAttributes{7},
                     .inputs = {{DType::kF32, shape}, graph::kScalar, {DType::kI32, {2}}},
                     .prepare = [=](std::vector<Tensor>& inputs, Random&) {
                       using Op = ops::StochasticRounding;
                       const bool is_skipped = name == std::string("no update");
                       inputs[Op::kGradientScale].values = {is_skipped ? 0.0 : 0.7};
                       inputs[Op::kRandomKey].values = {1234.0, 56.0};
                       if (name != std::string("one infinite")) return;
                       inputs[Op::kParameter].values.back() = -INFINITY;
                     }});
  }
}

}  // namespace

std::vector<KernelCase> stochastic_rounding_cases(DType dtype) {
  if (dtype != DType::kF32) return {};
  return parameter_cases(add_cases);
}

std::vector<KernelCase> stochastic_rounding_sweep(DType dtype, const SweepExtents& extents) {
  if (dtype != DType::kF32) return {};
  return parameter_sweep(extents, add_cases);
}

}  // namespace cloze::backend::testing
