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

void add_gelu_cases(std::vector<KernelCase>& cases, const graph::TensorType& type) {
  for (const ops::GeluForm form : {ops::GeluForm::kErf, ops::GeluForm::kTanh}) {
    const std::string name = form == ops::GeluForm::kErf ? "erf" : "tanh";
    const ops::GeluAttributes attributes{form};
    cases.push_back(
        {.name = name,
         .op = &ops::kGelu,
         .attributes = attributes,
         .inputs = {type},
         .prepare = [](auto& inputs, Random& random) { spread(inputs[ops::Gelu::kX], random); },
         .absolute_error = absolute_error_of(form)});
    cases.push_back({.name = name,
                     .op = &ops::kGeluGradient,
                     .attributes = attributes,
                     .inputs = {type, type},
                     .prepare = [](auto& inputs, Random& random) {
                       spread(inputs[ops::GeluGradient::kX], random);
                     }});
  }
}

void add_tanh_cases(std::vector<KernelCase>& cases, const graph::TensorType& type) {
  cases.push_back(
      {.name = "spread",
       .op = &ops::kTanh,
       .inputs = {type},
       .prepare = [](auto& inputs, Random& random) { spread(inputs[ops::Tanh::kX], random); }});
  cases.push_back({.name = "of results",
                   .op = &ops::kTanhGradient,
                   .inputs = {type, type},
                   .prepare = [](auto& inputs, Random&) {
                     for (double& y : inputs[ops::TanhGradient::kY].values) y = std::tanh(y);
                   }});
}

void add_swish_cases(std::vector<KernelCase>& cases, const graph::TensorType& type) {
  cases.push_back(
      {.name = "spread",
       .op = &ops::kSwish,
       .inputs = {type},
       .prepare = [](auto& inputs, Random& random) { spread(inputs[ops::Swish::kX], random); }});
  cases.push_back({.name = "spread",
                   .op = &ops::kSwishGradient,
                   .inputs = {type, type},
                   .prepare = [](auto& inputs, Random& random) {
                     spread(inputs[ops::SwishGradient::kX], random);
                   }});
}

void add_gated_linear_unit_cases(std::vector<KernelCase>& cases, const graph::TensorType& y) {
  const graph::TensorType x{y.dtype, {y.shape[0], 2 * y.shape[1]}};
  cases.push_back({.name = "spread",
                   .op = &ops::kGatedLinearUnit,
                   .inputs = {x},
                   .prepare = [](auto& inputs, Random& random) {
                     spread(inputs[ops::GatedLinearUnit::kX], random);
                   }});
  cases.push_back({.name = "spread",
                   .op = &ops::kGatedLinearUnitGradient,
                   .inputs = {y, x},
                   .prepare = [](auto& inputs, Random& random) {
                     spread(inputs[ops::GatedLinearUnitGradient::kX], random);
                   }});
}

void add_cases(std::vector<KernelCase>& cases, const graph::TensorType& type) {
  add_gelu_cases(cases, type);
  add_tanh_cases(cases, type);
  add_swish_cases(cases, type);
  add_gated_linear_unit_cases(cases, type);
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
  for (const Shape& shape : shapes) {
    std::vector<KernelCase> family;
    add_cases(family, {dtype, shape});
    sweep.add(std::move(family));
  }
  return sweep.take();
}

}  // namespace cloze::backend::testing
