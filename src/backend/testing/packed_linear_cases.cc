#include <fmt/format.h>

#include <array>
#include <cmath>

#include "backend/testing/case_inputs.h"
#include "backend/testing/kernel_case.h"
#include "backend/testing/kernel_sweep.h"
#include "ops/packed_linear.h"

namespace cloze::backend::testing {
namespace {

using ops::WeightLayout;

struct ProductSizes {
  int64_t M, K, N;
  int64_t num_weights = 1;
};

// One output, so that rows lie anywhere on the curve of an activation; one tile and less, several
// panels and blocks of the depth, rows that lie a page apart, several blocks of rows with several
// of the depth, several weights.
constexpr ProductSizes kSizes[] = {{700, 1, 1},    {7, 13, 2},     {33, 300, 65},
                                   {13, 1100, 40}, {200, 780, 20}, {33, 300, 65, 3}};
// Whole blocks of pairs, and the borders of them.
constexpr ProductSizes kPairSizes[] = {{700, 1, 1}, {7, 13, 2}, {33, 300, 65}, {16, 64, 128}};
constexpr int64_t kPanelColumns[] = {16, 32};  // of AVX2, and of AVX-512

// Halves of one panel and of several, rows that are few, odd, and in several blocks, with one of
// the depth and with several, several weights.
constexpr ProductSizes kStrassenSizes[] = {{1, 2, 64},     {37, 90, 128},  {97, 130, 64},
                                           {401, 44, 192}, {200, 782, 64}, {97, 130, 64, 3}};

// The blocks of a weight whose sums are exact, so that they agree with each other.
void fill_blocks(Tensor& packed, Random& random, int64_t K) {
  const int64_t elements = packed.type.shape.elements() / packed.type.shape[0];
  for (int64_t i = 0; i < elements; ++i) {
    std::array<double, 4> quadrants{};
    for (double& value : quadrants) {
      constexpr double kStep = 0x1p-10;
      value = std::round(random.normal() / std::sqrt(static_cast<double>(K)) / kStep) * kStep;
    }
    for (size_t block = 0; block < ops::kStrassenBlocks.size(); ++block) {
      double& sum = packed.values[static_cast<int64_t>(block) * elements + i] = 0.0;
      for (int q = 0; q < 4; ++q) sum += ops::kStrassenBlocks[block][q] * quadrants[q];
    }
  }
}

void fill_weight(Tensor& packed, Random& random, int64_t K) {
  if (ops::layout_of(packed.type.shape) == WeightLayout::kStrassen) {
    return fill_blocks(packed, random, K);
  }
  fill_normal(packed, random, 1.0 / std::sqrt(static_cast<double>(K)));
}

// By Strassen's algorithm a quarter of y is a sum of up to four products of half the depth, whose
// factors are sums of two quarters in one place or both: 4 + 2 + 2 + 4 times K / 2 terms as large
// as those of the definition, and with random signs about twice its error (ops/packed_linear.h).
int64_t summed_terms(int64_t K, WeightLayout layout) {
  return (layout == WeightLayout::kStrassen ? 12 * (K / 2) : K) + 1;
}

void add_cases(std::vector<KernelCase>& cases, const ProductSizes& sizes,
               const ops::PackWeightAttributes& pack, DType result = DType::kF32) {
  const graph::TensorType weight{DType::kF32, {sizes.N, sizes.K}};
  const auto packed = ops::kPackWeight.infer(std::vector{weight}, pack);
  const bool pairs = pack.layout == WeightLayout::kPairs;
  const char* layout = pairs                                    ? " in pairs"
                       : pack.layout == WeightLayout::kStrassen ? " for Strassen's algorithm"
                                                                : "";
  cases.push_back(
      {.name = fmt::format("panels of {} in {}{}", pack.panel_columns, name_of(pack.dtype), layout),
       .op = &ops::kPackWeight,
       .attributes = pack,
       .inputs = {weight},
       .why_zeros = "a panel may be mostly padding"});
  const DType x = pairs ? pack.dtype : DType::kF32;
  const auto num_weights = static_cast<size_t>(sizes.num_weights);
  for (const auto& activation : {std::optional<ops::GeluForm>(), std::optional(ops::GeluForm::kErf),
                                 std::optional(ops::GeluForm::kTanh)}) {
    for (const bool has_bias : {false, true}) {
      KernelCase one{
          .name = fmt::format(
              "{} times {} outputs, {}{}{}", num_weights, sizes.N, has_bias ? "bias" : "no bias",
              activation ? fmt::format(", gelu {}", static_cast<int>(*activation)) : "", layout),
          .op = &ops::kPackedLinear,
          .attributes = ops::PackedLinearAttributes{sizes.N, activation, result, sizes.num_weights},
          .inputs = {{x, {sizes.M, sizes.K}}},
          .prepare =
              [sizes, activation](auto& inputs, Random& random) {
                if (activation) fill_normal(inputs[0], random, 3.0);
                for (int64_t i = 0; i < sizes.num_weights; ++i) {
                  fill_weight(inputs[ops::packed_input(i)], random, sizes.K);
                }
              },
          .summed_terms = summed_terms(sizes.K, pack.layout),
          .absolute_error = absolute_error_of(activation),
          .is_bound_by_norms = pack.layout == WeightLayout::kStrassen};
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

// Rows beyond what is activated at a time, too.
std::vector<ProductSizes> pair_sizes(const SweepExtents& extents) {
  std::vector<ProductSizes> sizes;
  for (const int64_t M : extents.up_to(100, {16, 32})) sizes.push_back({M, 33, 65});
  for (const int64_t M : SweepExtents::around(kSweptActivatedRows, {512}))
    sizes.push_back({M, 3, 5});
  for (const int64_t K : extents.up_to(3 * ops::kPairDepth, {ops::kPairDepth})) {
    sizes.push_back({5, K, 65});
  }
  for (const int64_t N : extents.up_to(3 * ops::kPairColumns, {ops::kPairColumns})) {
    sizes.push_back({5, 33, N});
  }
  return sizes;
}

// An even depth, and outputs that are whole panels of both widths.
std::vector<ProductSizes> strassen_sizes(const SweepExtents& extents) {
  std::vector<ProductSizes> sizes;
  for (const int64_t M : extents.up_to(kSweptRows, {12, 28, 96, 192})) {
    sizes.push_back({M, 10, 64, 1 + M % 3});
  }
  for (const int64_t half : extents.up_to(kSweptPackedDepth / 2, {16, 384})) {
    sizes.push_back({101, 2 * half, 64});
  }
  for (int64_t N = 64; N <= kSweptColumns; N += 64) sizes.push_back({101, 6, N});
  return sizes;
}

}  // namespace

std::vector<KernelCase> packed_linear_cases(DType dtype) {
  std::vector<KernelCase> cases;
  for (const ProductSizes& sizes : kSizes) {
    for (const int64_t columns : kPanelColumns) add_cases(cases, sizes, {columns, dtype});
  }
  for (const ProductSizes& sizes : kPairSizes) {
    const ops::PackWeightAttributes pack{.dtype = dtype, .layout = WeightLayout::kPairs};
    add_cases(cases, sizes, pack, dtype);
    if (dtype != DType::kF32) add_cases(cases, sizes, pack, DType::kF32);
  }
  if (dtype != DType::kF32) return cases;
  for (const ProductSizes& sizes : kStrassenSizes) {
    for (const int64_t columns : kPanelColumns) {
      add_cases(cases, sizes, {columns, dtype, WeightLayout::kStrassen});
    }
  }
  return cases;
}

std::vector<KernelCase> packed_linear_sweep(DType dtype, const SweepExtents& extents) {
  SweepCases sweep;
  for (const ProductSizes& sizes : panel_sizes(extents)) {
    for (const int64_t columns : kPanelColumns) {
      sweep.add(cases_of(sizes, {columns, dtype}, DType::kF32));
    }
  }
  for (const ProductSizes& sizes : pair_sizes(extents)) {
    const ops::PackWeightAttributes pack{.dtype = dtype, .layout = WeightLayout::kPairs};
    sweep.add(cases_of(sizes, pack, dtype));
    if (dtype != DType::kF32) sweep.add(cases_of(sizes, pack, DType::kF32));
  }
  if (dtype != DType::kF32) return sweep.take();
  for (const ProductSizes& sizes : strassen_sizes(extents)) {
    for (const int64_t columns : kPanelColumns) {
      sweep.add(cases_of(sizes, {columns, dtype, WeightLayout::kStrassen}, dtype));
    }
  }
  return sweep.take();
}

}  // namespace cloze::backend::testing
