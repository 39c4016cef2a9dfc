#include "ops/linear.h"

#include <fmt/format.h>

#include <cmath>

#include "backend/testing/kernel_case.h"

namespace cloze::backend::testing {
namespace {

struct ProductSizes {
  int64_t M, K, N;
};

constexpr ProductSizes kSizes[] = {{1, 1, 1},    {1, 64, 3},    {7, 13, 5},
                                   {33, 17, 65}, {64, 128, 96}, {131, 48, 101}};

std::string activation_name(const std::optional<ops::GeluForm>& activation) {
  if (!activation) return "no activation";
  return *activation == ops::GeluForm::kErf ? "erf gelu" : "tanh gelu";
}

void add_forward_cases(std::vector<KernelCase>& cases, const ProductSizes& sizes, DType dtype) {
  const std::optional<ops::GeluForm> activations[] = {std::nullopt, ops::GeluForm::kErf,
                                                      ops::GeluForm::kTanh};
  for (const auto& activation : activations) {
    for (const bool has_bias : {false, true}) {
      KernelCase one{
          .name = fmt::format("{}, {}", activation_name(activation), has_bias ? "bias" : "no bias"),
          .op = &ops::kLinear,
          .attributes = ops::LinearAttributes{activation},
          .inputs = {{dtype, {sizes.M, sizes.K}}, {dtype, {sizes.N, sizes.K}}},
          .prepare =
              [sizes](auto& inputs, Random& random) {
                fill_normal(inputs[1], random, 1.0 / std::sqrt(static_cast<double>(sizes.K)));
              },
          .summed_terms = sizes.K + 1};
      if (has_bias) one.inputs.push_back({DType::kF32, {sizes.N}});
      if (activation) one.through_storage = {0};
      cases.push_back(std::move(one));
    }
  }
}

void add_gradient_cases(std::vector<KernelCase>& cases, const ProductSizes& sizes, DType dtype) {
  const graph::TensorType dy{dtype, {sizes.M, sizes.N}};
  cases.push_back({.name = "normal",
                   .op = &ops::kLinearInputGradient,
                   .attributes = {},
                   .inputs = {dy, {dtype, {sizes.N, sizes.K}}},
                   .summed_terms = sizes.N});
  for (const bool has_bias : {false, true}) {
    cases.push_back({.name = has_bias ? "bias" : "no bias",
                     .op = &ops::kLinearWeightGradient,
                     .attributes = ops::LinearWeightGradientAttributes{has_bias},
                     .inputs = {dy, {dtype, {sizes.M, sizes.K}}},
                     .summed_terms = sizes.M});
  }
}

}  // namespace

std::vector<KernelCase> linear_cases(DType dtype) {
  std::vector<KernelCase> cases;
  for (const ProductSizes& sizes : kSizes) {
    add_forward_cases(cases, sizes, dtype);
    add_gradient_cases(cases, sizes, dtype);
  }
  return cases;
}

}  // namespace cloze::backend::testing
