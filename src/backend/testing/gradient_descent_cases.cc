#include <limits>
#include <string>

#include "backend/testing/kernel_case.h"
#include "backend/testing/kernel_sweep.h"
#include "ops/gradient_descent.h"

namespace cloze::backend::testing {
namespace {

using graph::kScalar;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Variant {
  std::string name;
  ops::GradientDescentAttributes attributes;
  double last_gradient = 0.5;
  double scale = 0.7;
  double learning_rate = 0.1;
};

std::vector<Variant> variants() {
  return {{"defaults", {}},
          {"weight decay", {.weight_decay = 0.01}},
          {"other constants", {.momentum = 0.5, .weight_decay = 0.1}},
          {"no update", {.weight_decay = 0.01}, kInfinity, 0.0},
          {"infinite gradient", {}, kInfinity},  // `check` reports it
          {"infinite rate", {.weight_decay = 0.01}, 0.5, 0.7, kInfinity}};
}

template <class Update>
void fill(std::vector<Tensor>& inputs, const Variant& variant) {
  inputs[Update::kGradient].values.back() = variant.last_gradient;
  inputs[Update::kGradientScale].values = {variant.scale};
  inputs[Update::kLearningRate].values = {variant.learning_rate};
  inputs[Update::kUpdateIndex].values = {3.0};
}

void add_cases(std::vector<KernelCase>& cases, const Shape& shape) {
  const graph::TensorType type{DType::kF32, shape};
  const graph::TensorType index{DType::kI32, {1}};
  for (const Variant& variant : variants()) {
    cases.push_back(
        {.name = variant.name,
         .op = &ops::kSgd,
         .attributes = variant.attributes,
         .inputs = {type, type, kScalar, kScalar, index, kScalar},
         .prepare = [variant](auto& inputs, Random&) { fill<ops::Sgd>(inputs, variant); }});
    cases.push_back(
        {.name = variant.name,
         .op = &ops::kMomentum,
         .attributes = variant.attributes,
         .inputs = {type, type, type, kScalar, kScalar, index, kScalar},
         .prepare = [variant](auto& inputs, Random&) { fill<ops::Momentum>(inputs, variant); }});
  }
}

}  // namespace

std::vector<KernelCase> gradient_descent_cases(DType dtype) {
  if (dtype != DType::kF32) return {};
  return parameter_cases(add_cases);
}

std::vector<KernelCase> gradient_descent_sweep(DType dtype, const SweepExtents& extents) {
  if (dtype != DType::kF32) return {};
  return parameter_sweep(extents, add_cases);
}

}  // namespace cloze::backend::testing
