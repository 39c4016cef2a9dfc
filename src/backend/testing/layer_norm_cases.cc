// Cases of layer_norm, dropout and dropout_add_layer_norm.
#include "ops/layer_norm.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend/testing/case_inputs.h"
#include "backend/testing/kernel_case.h"
#include "backend/testing/kernel_sweep.h"
#include "backend/testing/run_kernel.h"
#include "ops/dropout.h"
#include "ops/dropout_add_layer_norm.h"

namespace cloze::backend::testing {
namespace {

const Shape kShapes[] = {{1, 1}, {3, 2}, {7, 13}, {31, 33}, {5, 768}, {64, 128}, {3, 2100}};
const double kRates[] = {0.0, 0.1, 0.25};

struct RowTypes {
  explicit RowTypes(const graph::TensorType& type)
      : x(type),
        channel{DType::kF32, {type.shape[1]}},
        row{DType::kF32, {type.shape[0]}},
        ids{DType::kI32, {type.shape[0]}} {}
  graph::TensorType x, channel, row, ids;
  graph::TensorType key{DType::kI32, {2}};
};

int64_t longest_sum(const Shape& shape) { return std::max(shape[0], shape[1]); }

// mean and rstd of x (or z), as the forward pass leaves them; for either gradient.
void fill_statistics(std::vector<Tensor>& inputs) {
  using Op = ops::LayerNormGradient;
  const Tensor beta = zeros(inputs[Op::kGamma].type);
  const auto forward = apply_in_double(ops::kLayerNorm, ops::LayerNormAttributes{},
                                       {inputs[Op::kX], inputs[Op::kGamma], beta});
  inputs[Op::kMean].values = forward[ops::LayerNorm::kMean].values;
  inputs[Op::kRstd].values = forward[ops::LayerNorm::kRstd].values;
}

void add_layer_norm_cases(std::vector<KernelCase>& cases, const RowTypes& types) {
  for (const double mean : {0.5, 8.0}) {
    // With two channels and a large mean, rounding may leave no difference between the channels.
    if (mean > 1.0 && types.x.shape[1] < 3) continue;
    cases.push_back({.name = fmt::format("mean {}", mean),
                     .op = &ops::kLayerNorm,
                     .attributes = ops::LayerNormAttributes{1e-12},
                     .inputs = {types.x, types.channel, types.channel},
                     .prepare =
                         [mean](auto& inputs, Random&) {
                           Tensor& x = inputs[ops::LayerNorm::kX];
                           for (double& value : x.values) value += mean;
                           round_to_type(x);
                         },
                     .summed_terms = types.x.shape[1]});
  }
  cases.push_back(
      {.name = "normal",
       .op = &ops::kLayerNormGradient,
       .inputs = {types.x, types.x, types.channel, types.row, types.row},
       .prepare = [](auto& inputs, Random&) { fill_statistics(inputs); },
       .summed_terms = longest_sum(types.x.shape),
       .why_zeros = types.x.shape[1] < 3 ? "few channels are fixed by their norm" : ""});
}

void add_dropout_case(std::vector<KernelCase>& cases, const RowTypes& types, double rate) {
  cases.push_back(
      {.name = fmt::format("rate {}", rate),
       .op = &ops::kDropout,
       .attributes = ops::DropoutAttributes{.rate = rate, .site = 5},
       .inputs = {types.x, types.ids, types.ids, types.key},
       .prepare =
           [](auto& inputs, Random& random) {
             fill_random_inputs(inputs, ops::Dropout::kSampleIds, random);
           },
       .why_zeros = types.x.shape.elements() < 100 ? "few elements, many dropped" : ""});
}

void add_fused_cases(std::vector<KernelCase>& cases, const RowTypes& types, double rate) {
  const ops::DropoutAddLayerNormAttributes attributes{.rate = rate, .site = 7, .epsilon = 1e-12};
  cases.push_back(
      {.name = fmt::format("rate {}", rate),
       .op = &ops::kDropoutAddLayerNorm,
       .attributes = attributes,
       .inputs = {types.x, types.x, types.channel, types.channel, types.ids, types.ids, types.key},
       .prepare =
           [](auto& inputs, Random& random) {
             fill_random_inputs(inputs, ops::DropoutAddLayerNorm::kSampleIds, random);
           },
       .summed_terms = types.x.shape[1],
       .through_storage = {ops::DropoutAddLayerNorm::kY, ops::DropoutAddLayerNorm::kMean,
                           ops::DropoutAddLayerNorm::kRstd}});
  KernelCase gradient{
      .name = fmt::format("rate {}", rate),
      .op = &ops::kDropoutAddLayerNormGradient,
      .attributes = attributes,
      .inputs = {types.x, types.x, types.channel, types.row, types.row, types.ids, types.ids,
                 types.key},
      .prepare =
          [](auto& inputs, Random& random) {
            fill_statistics(inputs);
            fill_random_inputs(inputs, ops::DropoutAddLayerNormGradient::kSampleIds, random);
          },
      .summed_terms = longest_sum(types.x.shape),
      .through_storage = {ops::DropoutAddLayerNormGradient::kDx},
      .why_zeros = types.x.shape.elements() < 100 ? "few elements, many dropped" : ""};
  cases.push_back(gradient);
  gradient.name += ", z read";
  gradient.inputs.push_back(types.x);
  cases.push_back(std::move(gradient));
}

void add_cases(std::vector<KernelCase>& cases, const graph::TensorType& type) {
  const RowTypes types(type);
  add_layer_norm_cases(cases, types);
  for (const double rate : kRates) {
    add_dropout_case(cases, types, rate);
    // A row of two channels whose statistics come from rounded z has no digits left to compare.
    if (type.shape[1] > 2) add_fused_cases(cases, types, rate);
  }
}

}  // namespace

std::vector<KernelCase> layer_norm_cases(DType dtype) {
  std::vector<KernelCase> cases;
  for (const Shape& shape : kShapes) add_cases(cases, {dtype, shape});
  return cases;
}

std::vector<KernelCase> layer_norm_sweep(DType dtype, const SweepExtents& extents) {
  std::vector<Shape> shapes;
  for (const int64_t columns : extents.up_to(kSweptColumns, {8, 64}))
    shapes.push_back({5, columns});
  for (const int64_t rows : extents.up_to(kSweptRows, {32, 64})) shapes.push_back({rows, 11});
  // Rows in chunks, and enough elements for several threads.
  for (const int64_t rows : SweepExtents::around(kSweptChunkedRows, {2048})) {
    shapes.push_back({rows, 9});
  }
  // Sums over rows in several parts, each of several chunks.
  for (const int64_t columns : SweepExtents::around(kSweptRowSums, {1024})) {
    shapes.push_back({33, columns});
  }
  SweepCases sweep;
  sweep.add_each(shapes, [&](auto& family, const Shape& shape) {
    add_cases(family, {dtype, shape});
  });
  return sweep.take();
}

}  // namespace cloze::backend::testing
