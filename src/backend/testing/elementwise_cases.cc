#include <cmath>

#include "backend/testing/case_inputs.h"
#include "backend/testing/kernel_case.h"
#include "backend/testing/kernel_sweep.h"
#include "ops/elementwise.h"
#include "ops/gated_linear_unit.h"
#include "ops/gelu.h"
#include "ops/swish.h"
#include "ops/tanh.h"

namespace cloze::backend::testing {
namespace {

const Shape kShapes[] = {{1, 1}, {700, 1}, {7, 13}, {33, 17}, {64, 128}};

// Values over the whole curve, saturated ends and signed zeros included.
void spread(Tensor& tensor, Random& random) {
  fill_normal(tensor, random, 3.0);
  const double special[] = {0.5, 0.0, -0.0, 1e-20, -1e-20, 20.0, -20.0, 100.0, -100.0};
  const size_t count = tensor.values.size() > 64 ? std::size(special) : 1;
  for (size_t i = 0; i < count; ++i) tensor.values[i] = special[i];
}

// x is the last input of all operators.
KernelCase spread_case(const graph::OpDefinition& op, std::vector<graph::TensorType> inputs,
                       std::string name = "spread") {
  return {.name = std::move(name),
          .op = &op,
          .inputs = std::move(inputs),
          .prepare = [](auto& tensors, Random& random) { spread(tensors.back(), random); }};
}

void add_gelu_cases(std::vector<KernelCase>& cases, const graph::TensorType& type) {
  for (const ops::GeluForm form : {ops::GeluForm::kErf, ops::GeluForm::kTanh}) {
    const std::string name = form == ops::GeluForm::kErf ? "erf" : "tanh";
    KernelCase forward = spread_case(ops::kGelu, {type}, name);
    KernelCase gradient = spread_case(ops::kGeluGradient, {type, type}, name);
    forward.attributes = gradient.attributes = ops::GeluAttributes{form};
    forward.absolute_error = absolute_error_of(form);
    cases.push_back(std::move(forward));
    cases.push_back(std::move(gradient));
  }
}

void add_cases(std::vector<KernelCase>& cases, const graph::TensorType& type) {
  add_gelu_cases(cases, type);
  cases.push_back(spread_case(ops::kTanh, {type}));
  cases.push_back({.name = "of results",
                   .op = &ops::kTanhGradient,
                   .inputs = {type, type},
                   .prepare = [](auto& inputs, Random&) {
                     for (double& y : inputs[ops::TanhGradient::kY].values) y = std::tanh(y);
                   }});
  cases.push_back(spread_case(ops::kSwish, {type}));
  cases.push_back(spread_case(ops::kSwishGradient, {type, type}));
  const graph::TensorType gates_and_values{type.dtype, {type.shape[0], 2 * type.shape[1]}};
  cases.push_back(spread_case(ops::kGatedLinearUnit, {gates_and_values}));
  cases.push_back(spread_case(ops::kGatedLinearUnitGradient, {type, gates_and_values}));
  cases.push_back({.name = "normal", .op = &ops::kAdd, .inputs = {type, type}});
  cases.push_back({.name = "normal", .op = &ops::kAccumulate, .inputs = {type}});
}

}  // namespace

std::vector<KernelCase> elementwise_cases(DType dtype) {
  std::vector<KernelCase> cases;
  for (const Shape& shape : kShapes) add_cases(cases, {dtype, shape});
  return cases;
}

std::vector<KernelCase> elementwise_sweep(DType dtype, const SweepExtents& extents) {
  std::vector<Shape> shapes;
  for (const int64_t columns : extents.up_to(kSweptColumns, {8, 64}))
    shapes.push_back({1, columns});
  for (const int64_t rows : extents.up_to(kSweptRows, {64})) shapes.push_back({rows, 3});
  for (const int64_t elements : SweepExtents::around(kSweptElements, {16384})) {
    shapes.push_back({1, elements});
  }
  SweepCases sweep;
  sweep.add_each(shapes, [&](auto& family, const Shape& shape) {
    add_cases(family, {dtype, shape});
  });
  return sweep.take();
}

}  // namespace cloze::backend::testing
