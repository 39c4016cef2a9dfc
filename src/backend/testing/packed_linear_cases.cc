#include <fmt/format.h>

#include <cmath>

#include "backend/testing/kernel_case.h"
#include "ops/packed_linear.h"

namespace cloze::backend::testing {
namespace {

struct ProductSizes {
  int64_t M, K, N;
};

// One tile and less, several panels and blocks of the depth, rows that lie a page apart.
constexpr ProductSizes kSizes[] = {{1, 1, 1}, {7, 13, 2}, {33, 300, 65}, {13, 1100, 40}};
constexpr int64_t kPanelColumns[] = {16, 32};  // of AVX2, and of AVX-512

void add_cases(std::vector<KernelCase>& cases, const ProductSizes& sizes, int64_t columns,
               DType dtype) {
  const ops::PackWeightAttributes pack{columns, dtype};
  const graph::TensorType weight{DType::kF32, {sizes.N, sizes.K}};
  const auto packed = ops::kPackWeight.infer(std::vector{weight}, pack);
  cases.push_back({.name = fmt::format("panels of {} in {}", columns, name_of(dtype)),
                   .op = &ops::kPackWeight,
                   .attributes = pack,
                   .inputs = {weight},
                   .why_zeros = "a panel may be mostly padding"});
  for (const auto& activation : {std::optional<ops::GeluForm>(), std::optional(ops::GeluForm::kErf),
                                 std::optional(ops::GeluForm::kTanh)}) {
    for (const bool has_bias : {false, true}) {
      KernelCase one{.name = fmt::format(
                         "{} outputs, {}{}", sizes.N, has_bias ? "bias" : "no bias",
                         activation ? fmt::format(", gelu {}", static_cast<int>(*activation)) : ""),
                     .op = &ops::kPackedLinear,
                     .attributes = ops::PackedLinearAttributes{sizes.N, activation},
                     .inputs = {{DType::kF32, {sizes.M, sizes.K}}, packed[0]},
                     .prepare =
                         [K = sizes.K](auto& inputs, Random& random) {
                           fill_normal(inputs[1], random, 1.0 / std::sqrt(static_cast<double>(K)));
                         },
                     .summed_terms = sizes.K + 1};
      if (has_bias) one.inputs.push_back({DType::kF32, {sizes.N}});
      cases.push_back(std::move(one));
    }
  }
}

}  // namespace

std::vector<KernelCase> packed_linear_cases(DType dtype) {
  std::vector<KernelCase> cases;
  for (const ProductSizes& sizes : kSizes) {
    for (const int64_t columns : kPanelColumns) add_cases(cases, sizes, columns, dtype);
  }
  return cases;
}

}  // namespace cloze::backend::testing
