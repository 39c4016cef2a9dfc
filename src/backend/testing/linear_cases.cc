// Cases of products, whole and in groups.
#include "ops/linear.h"

#include <fmt/format.h>

#include <cmath>

#include "backend/testing/case_inputs.h"
#include "backend/testing/kernel_case.h"
#include "backend/testing/kernel_sweep.h"
#include "ops/grouped_linear.h"

namespace cloze::backend::testing {
namespace {

struct ProductSizes {
  int64_t M, K, N;
};

constexpr ProductSizes kSizes[] = {{700, 1, 1},   {1, 64, 3},     {7, 13, 5},   {33, 17, 65},
                                   {64, 128, 96}, {131, 48, 101}, {33, 2, 2100}};

std::string bias_name(bool has_bias) { return has_bias ? "bias" : "no bias"; }

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
          .name = fmt::format("{}, {}", activation_name(activation), bias_name(has_bias)),
          .op = &ops::kLinear,
          .attributes = ops::LinearAttributes{activation},
          .inputs = {{dtype, {sizes.M, sizes.K}}, {DType::kF32, {sizes.N, sizes.K}}},
          .prepare =
              [sizes, activation](auto& inputs, Random& random) {
                if (activation) fill_normal(inputs[ops::Linear::kX], random, 3.0);
                fill_normal(inputs[ops::Linear::kWeight], random,
                            1.0 / std::sqrt(static_cast<double>(sizes.K)));
              },
          .summed_terms = sizes.K + 1,
          .absolute_error = absolute_error_of(activation)};
      if (has_bias) one.inputs.push_back({DType::kF32, {sizes.N}});
      if (activation) one.through_storage = {ops::Linear::kY};
      cases.push_back(std::move(one));
    }
  }
}

void add_gradient_cases(std::vector<KernelCase>& cases, const ProductSizes& sizes, DType dtype) {
  const graph::TensorType dy{dtype, {sizes.M, sizes.N}};
  cases.push_back({.name = "normal",
                   .op = &ops::kLinearInputGradient,
                   .attributes = {},
                   .inputs = {dy, {DType::kF32, {sizes.N, sizes.K}}},
                   .summed_terms = sizes.N});
  for (const bool has_bias : {false, true}) {
    cases.push_back({.name = bias_name(has_bias),
                     .op = &ops::kLinearWeightGradient,
                     .attributes = ops::LinearWeightGradientAttributes{has_bias},
                     .inputs = {dy, {dtype, {sizes.M, sizes.K}}},
                     .summed_terms = sizes.M});
  }
}

void add_cases(std::vector<KernelCase>& cases, const ProductSizes& sizes, DType dtype) {
  add_forward_cases(cases, sizes, dtype);
  add_gradient_cases(cases, sizes, dtype);
}

struct GroupedLinearSizes {
  int64_t groups, rows, inputs, outputs;  // inputs and outputs of a group
};

constexpr GroupedLinearSizes kGroupedSizes[] = {{1, 7, 13, 5},  {3, 1, 1, 1},    {700, 2, 1, 1},
                                                {4, 33, 17, 9}, {4, 64, 32, 24}, {2, 131, 48, 101}};

void add_grouped_cases(std::vector<KernelCase>& cases, const GroupedLinearSizes& sizes,
                       DType dtype) {
  const int64_t inputs = sizes.groups * sizes.inputs;
  const int64_t outputs = sizes.groups * sizes.outputs;
  const graph::TensorType x{dtype, {sizes.rows, inputs}};
  const graph::TensorType dy{dtype, {sizes.rows, outputs}};
  const graph::TensorType weight{DType::kF32, {outputs, sizes.inputs, 1}};
  const std::string name = fmt::format("{} groups", sizes.groups);
  for (const bool has_bias : {false, true}) {
    KernelCase forward{.name = name + ", " + bias_name(has_bias),
                       .op = &ops::kGroupedLinear,
                       .attributes = ops::GroupedLinearAttributes{sizes.groups},
                       .inputs = {x, weight},
                       .prepare =
                           [sizes](auto& inputs, Random& random) {
                             fill_normal(inputs[ops::GroupedLinear::kWeight], random,
                                         1.0 / std::sqrt(static_cast<double>(sizes.inputs)));
                           },
                       .summed_terms = sizes.inputs + 1};
    if (has_bias) forward.inputs.push_back({DType::kF32, {outputs}});
    cases.push_back(std::move(forward));
    cases.push_back(
        {.name = name + ", " + bias_name(has_bias),
         .op = &ops::kGroupedLinearWeightGradient,
         .attributes = ops::GroupedLinearWeightGradientAttributes{sizes.groups, has_bias},
         .inputs = {dy, x},
         .summed_terms = sizes.rows});
  }
  cases.push_back({.name = name,
                   .op = &ops::kGroupedLinearInputGradient,
                   .attributes = ops::GroupedLinearAttributes{sizes.groups},
                   .inputs = {dy, weight},
                   .summed_terms = sizes.outputs});
}

std::vector<ProductSizes> swept_sizes(const SweepExtents& extents) {
  std::vector<ProductSizes> sizes;
  for (const int64_t M : extents.up_to(kSweptRows, {6, 14, 96, 256})) sizes.push_back({M, 9, 21});
  for (const int64_t K : extents.up_to(kSweptDepth, {16, 32, 256, 512})) {
    sizes.push_back({7, K, 19});
  }
  for (const int64_t N : extents.up_to(kSweptColumns, {16, 32, 256})) sizes.push_back({15, 7, N});
  for (const int64_t M : SweepExtents::around(kSweptGroupedDepth, {3072})) {
    sizes.push_back({M, 3, 5});
  }
  for (const int64_t N : SweepExtents::around(kSweptRowSums, {1024})) sizes.push_back({33, 2, N});
  return sizes;
}

std::vector<GroupedLinearSizes> swept_groups(const SweepExtents& extents) {
  std::vector<GroupedLinearSizes> sizes;
  for (const int64_t rows : extents.up_to(kSweptRows, {6, 14, 96, 256})) {
    sizes.push_back({3, rows, 7, 9});
  }
  for (const int64_t inputs : extents.up_to(kSweptDepth, {16, 32, 256, 512})) {
    sizes.push_back({2, 7, inputs, 11});
  }
  for (const int64_t outputs : extents.up_to(kSweptColumns, {16, 32, 256})) {
    sizes.push_back({2, 7, 5, outputs});
  }
  for (const int64_t rows : SweepExtents::around(kSweptChunkedRows, {2048})) {
    sizes.push_back({3, rows, 2, 3});
  }
  for (const int64_t rows : SweepExtents::around(kSweptGroupedDepth, {3072})) {
    sizes.push_back({2, rows, 3, 5});
  }
  return sizes;
}

}  // namespace

std::vector<KernelCase> linear_cases(DType dtype) {
  std::vector<KernelCase> cases;
  for (const ProductSizes& sizes : kSizes) add_cases(cases, sizes, dtype);
  for (const GroupedLinearSizes& sizes : kGroupedSizes) add_grouped_cases(cases, sizes, dtype);
  return cases;
}

std::vector<KernelCase> linear_sweep(DType dtype, const SweepExtents& extents) {
  SweepCases sweep;
  sweep.add_each(swept_sizes(extents),
                 [&](auto& family, const ProductSizes& one) { add_cases(family, one, dtype); });
  sweep.add_each(swept_groups(extents), [&](auto& family, const GroupedLinearSizes& one) {
    add_grouped_cases(family, one, dtype);
  });
  return sweep.take();
}

}  // namespace cloze::backend::testing
