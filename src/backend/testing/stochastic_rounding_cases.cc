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

std::vector<KernelCase> stochastic_rounding_cases() {
  std::vector<KernelCase> cases;
  for (const Shape& shape : {Shape{1}, Shape{7}, Shape{33, 17}, Shape{1031}}) {
    add_cases(cases, shape);
  }
  return cases;
}

std::vector<KernelCase> stochastic_rounding_sweep(const SweepExtents& extents) {
  SweepCases sweep;
  const auto add = [&](int64_t elements) {
    std::vector<KernelCase> family;
    add_cases(family, {elements});
    sweep.add(std::move(family));
  };
  for (const int64_t elements : extents.up_to(kSweptColumns, {8, 16, 64})) add(elements);
  for (const int64_t elements : SweepExtents::around(kSweptElements, {16384, 32768})) add(elements);
  return sweep.take();
}

}  // namespace cloze::backend::testing
