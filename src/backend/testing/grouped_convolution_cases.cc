#include "ops/grouped_convolution.h"

#include <algorithm>
#include <numeric>

#include "backend/testing/case_inputs.h"
#include "backend/testing/kernel_case.h"
#include "backend/testing/kernel_sweep.h"

namespace cloze::backend::testing {
namespace {

struct ConvolutionSizes {
  std::string name;
  std::vector<int64_t> lengths;
  int64_t unused_slots = 0, groups = 1, group_size = 1, width = 1;
  std::string why_zeros = "";

  int64_t used_slots() const { return std::accumulate(lengths.begin(), lengths.end(), int64_t{0}); }
  int64_t slots() const { return used_slots() + unused_slots; }
  int64_t channels() const { return groups * group_size; }
};

std::vector<ConvolutionSizes> convolution_sizes() {
  return {{"one slot", {1}, 0, 1, 1, 7, "all but the middle of the window is outside"},
          {"width 1", {5, 3}, 1, 2, 3, 1},
          {"empty sequences", {5, 0, 7, 0}, 3, 2, 3, 7},
          {"shorter than the window", {1, 2, 3, 4}, 0, 2, 4, 7},
          {"prime sizes", {17, 31, 1}, 5, 3, 5, 3},
          {"GroupBERT's", {20, 44}, 3, 4, 16, 7},
          {"no sequences", {0, 0}, 4, 2, 4, 7, "all slots are unused"}};
}

void add_cases(std::vector<KernelCase>& cases, const ConvolutionSizes& sizes, DType dtype) {
  const graph::TensorType x{dtype, {sizes.slots(), sizes.channels()}};
  const graph::TensorType weight{DType::kF32, {sizes.channels(), sizes.group_size, sizes.width}};
  const graph::TensorType starts{DType::kI32, {static_cast<int64_t>(sizes.lengths.size()) + 1}};
  const auto fill_starts_at = [&sizes](size_t input) {
    return [starts = starts_of(sizes.lengths), input](auto& inputs, Random&) {
      inputs[input].values = starts;
    };
  };
  for (const bool has_bias : {false, true}) {
    KernelCase forward{.name = sizes.name + ", " + (has_bias ? "bias" : "no bias"),
                       .op = &ops::kGroupedConvolution,
                       .attributes = {},
                       .inputs = {x, weight, starts},
                       .prepare = fill_starts_at(ops::GroupedConvolution::kSequenceStarts),
                       .summed_terms = sizes.group_size * sizes.width + 1,
                       .why_zeros = sizes.why_zeros};
    if (has_bias) forward.inputs.push_back({DType::kF32, {sizes.channels()}});
    cases.push_back(std::move(forward));
    cases.push_back(
        {.name = sizes.name + ", " + (has_bias ? "bias" : "no bias"),
         .op = &ops::kGroupedConvolutionWeightGradient,
         .attributes = ops::GroupedConvolutionWeightGradientAttributes{sizes.group_size,
                                                                       sizes.width, has_bias},
         .inputs = {x, x, starts},
         .prepare = fill_starts_at(ops::GroupedConvolutionWeightGradient::kSequenceStarts),
         .summed_terms = std::max<int64_t>(sizes.used_slots(), 1),
         .why_zeros = sizes.why_zeros});
  }
  cases.push_back({.name = sizes.name,
                   .op = &ops::kGroupedConvolutionInputGradient,
                   .attributes = {},
                   .inputs = {x, weight, starts},
                   .prepare = fill_starts_at(ops::GroupedConvolutionInputGradient::kSequenceStarts),
                   .summed_terms = sizes.group_size * sizes.width,
                   .why_zeros = sizes.why_zeros});
}

}  // namespace

std::vector<KernelCase> grouped_convolution_cases(DType dtype) {
  std::vector<KernelCase> cases;
  for (const ConvolutionSizes& sizes : convolution_sizes()) add_cases(cases, sizes, dtype);
  return cases;
}

std::vector<KernelCase> grouped_convolution_sweep(DType dtype, const SweepExtents& extents) {
  std::vector<ConvolutionSizes> all;
  for (const int64_t length : extents.up_to(kSweptLength, {6, 14, 128})) {
    const int64_t other = 1 + length * 37 % 97;
    all.push_back({"lengths", {other, length, 0, 3}, length % 4, 2, 1 + length % 5, 7});
  }
  for (const int64_t size : extents.up_to(kSweptGroupSize, {8, 16, 32})) {
    all.push_back({"group size", {9, 23}, 1, 2, size, 7});
  }
  for (int64_t width = 1; width <= kSweptWidth; width += 2) {
    all.push_back({"width", {9, 23}, 1, 2, 16, width});
  }
  SweepCases sweep;
  sweep.add_each(
      all, [&](auto& family, const ConvolutionSizes& sizes) { add_cases(family, sizes, dtype); });
  return sweep.take();
}

}  // namespace cloze::backend::testing
