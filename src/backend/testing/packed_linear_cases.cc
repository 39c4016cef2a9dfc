#include <fmt/format.h>

#include <cmath>

#include "backend/testing/case_inputs.h"
#include "backend/testing/kernel_case.h"
#include "backend/testing/kernel_sweep.h"
#include "ops/packed_linear.h"

namespace cloze::backend::testing {
namespace {

struct ProductSizes {
  int64_t M, K, N;
  int64_t num_weights = 1;
};

// One output, so that values cover the whole curve of an activation; one tile and less; several
// panels and blocks of the depth; rows that are a page apart; several blocks of rows with several
// of the depth; several weights.
constexpr ProductSizes kSizes[] = {{700, 1, 1},    {7, 13, 2},     {33, 300, 65},
                                   {13, 1100, 40}, {200, 780, 20}, {33, 300, 65, 3}};
// Whole blocks, and sizes around their borders.
constexpr ProductSizes kPairSizes[] = {{700, 1, 1}, {7, 13, 2}, {33, 300, 65}, {16, 64, 128}};
// The layouts of the CPU: panels of AVX2 and of AVX-512, and oneDNN's pairs; that of GPUs, row by row.
constexpr ops::WeightLayout kPanels[] = {{.columns = 16}, {.columns = 32}};
constexpr ops::WeightLayout kPairs{.columns = 64, .depth = 32, .neighbours = 2};
constexpr ops::WeightLayout kPlain{.columns = 1};

// Says whether kernels multiply weights so laid out by activations of their dtype.
bool is_of_activations(const ops::WeightLayout& layout) {
  return layout == kPairs || layout == kPlain;
}

std::string name_of_layout(const ops::WeightLayout& layout) {
  if (layout == kPlain) return "row by row";
  return layout == kPairs ? "in pairs" : fmt::format("in panels of {}", layout.columns);
}

void add_cases(std::vector<KernelCase>& cases, const ProductSizes& sizes,
               const ops::PackWeightAttributes& pack, DType result = DType::kF32) {
  const graph::TensorType weight{DType::kF32, {sizes.N, sizes.K}};
  const auto packed = ops::kPackWeight.infer(std::vector{weight}, pack);
  const std::string layout = name_of_layout(pack.layout);
  cases.push_back({.name = fmt::format("{} {}", name_of(pack.dtype), layout),
                   .op = &ops::kPackWeight,
                   .attributes = pack,
                   .inputs = {weight},
                   .why_zeros = "a panel may be mostly padding"});
  const DType x = is_of_activations(pack.layout) ? pack.dtype : DType::kF32;
  const auto num_weights = static_cast<size_t>(sizes.num_weights);
  for (const auto& activation : {std::optional<ops::GeluForm>(), std::optional(ops::GeluForm::kErf),
                                 std::optional(ops::GeluForm::kTanh)}) {
    for (const bool has_bias : {false, true}) {
      KernelCase one{
          .name = fmt::format(
              "{} times {} outputs, {}{} {}", num_weights, sizes.N, has_bias ? "bias" : "no bias",
              activation ? fmt::format(", gelu {}", static_cast<int>(*activation)) : "", layout),
          .op = &ops::kPackedLinear,
          .attributes = ops::PackedLinearAttributes{sizes.N, pack.layout, activation, result,
                                                    sizes.num_weights},
          .inputs = {{x, {sizes.M, sizes.K}}},
          .prepare =
              [sizes, activation](auto& inputs, Random& random) {
                if (activation) fill_normal(inputs[ops::PackedLinear::kX], random, 3.0);
                for (int64_t i = 0; i < sizes.num_weights; ++i) {
                  fill_normal(inputs[ops::packed_input(i)], random,
                              1.0 / std::sqrt(static_cast<double>(sizes.K)));
                }
              },
          .summed_terms = sizes.K + 1,
          .absolute_error = absolute_error_of(activation)};
      one.inputs.insert(one.inputs.end(), num_weights, packed[0]);
      if (has_bias) one.inputs.insert(one.inputs.end(), num_weights, {DType::kF32, {sizes.N}});
      cases.push_back(std::move(one));
    }
  }
}

std::vector<KernelCase> cases_of(const ProductSizes& sizes, const ops::PackWeightAttributes& pack,
                                 DType result) {
  std::vector<KernelCase> cases;
  add_cases(cases, sizes, pack, result);
  return cases;
}

std::vector<ProductSizes> panel_sizes(const SweepExtents& extents) {
  std::vector<ProductSizes> sizes;
  for (const int64_t M : extents.up_to(kSweptRows, {6, 14, 192})) {
    sizes.push_back({M, 9, 21, 1 + M % 3});
  }
  for (const int64_t K : extents.up_to(kSweptPackedDepth, {16, 32, 768})) {
    sizes.push_back({15, K, 19});
  }
  for (const int64_t N : extents.up_to(kSweptColumns, {16, 32, 256})) sizes.push_back({9, 7, N});
  return sizes;
}

std::vector<ProductSizes> pair_sizes(const SweepExtents& extents) {
  std::vector<ProductSizes> sizes;
  for (const int64_t M : extents.up_to(kSweptPairRows, {32, 128})) sizes.push_back({M, 33, 65});
  for (const int64_t K : extents.up_to(3 * kPairs.depth, {kPairs.depth})) {
    sizes.push_back({5, K, 65});
  }
  for (const int64_t N : extents.up_to(3 * kPairs.columns, {kPairs.columns})) {
    sizes.push_back({5, 33, N});
  }
  return sizes;
}

}  // namespace

std::vector<KernelCase> packed_linear_cases(DType dtype) {
  std::vector<KernelCase> cases;
  for (const ProductSizes& sizes : kSizes) {
    for (const ops::WeightLayout& panels : kPanels) add_cases(cases, sizes, {panels, dtype});
  }
  for (const ops::WeightLayout& layout : {kPairs, kPlain}) {
    for (const ProductSizes& sizes : kPairSizes) {
      const ops::PackWeightAttributes pack{layout, dtype};
      add_cases(cases, sizes, pack, dtype);
      if (dtype != DType::kF32) add_cases(cases, sizes, pack, DType::kF32);
    }
  }
  return cases;
}

std::vector<KernelCase> packed_linear_sweep(DType dtype, const SweepExtents& extents) {
  SweepCases sweep;
  for (const ProductSizes& sizes : panel_sizes(extents)) {
    for (const ops::WeightLayout& panels : kPanels) {
      sweep.add(cases_of(sizes, {panels, dtype}, DType::kF32));
    }
  }
  for (const ops::WeightLayout& layout : {kPairs, kPlain}) {
    for (const ProductSizes& sizes : pair_sizes(extents)) {
      const ops::PackWeightAttributes pack{layout, dtype};
      sweep.add(cases_of(sizes, pack, dtype));
      if (dtype != DType::kF32) sweep.add(cases_of(sizes, pack, DType::kF32));
    }
  }
  return sweep.take();
}

}  // namespace cloze::backend::testing
