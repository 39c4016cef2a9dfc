#include "ops/grouped_convolution.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

// Of x or dy with weights [H, C, W].
void expect_groups(const graph::OpDefinition& op, const TensorType& x, int64_t group_size,
                   int64_t width) {
  CLOZE_CHECK(group_size > 0 && x.shape[1] % group_size == 0, "{}: groups of {} in {} channels",
              op.name, group_size, x.shape[1]);
  CLOZE_CHECK(width % 2 == 1, "{}: a width of {} is even", op.name, width);
}

void expect_weight(const graph::OpDefinition& op, std::span<const TensorType> in, size_t input,
                   const TensorType& x) {
  const Shape& weight = in[input].shape;
  expect_groups(op, x, weight[1], weight[2]);
  expect_type(op, in, input, {DType::kF32, {x.shape[1], weight[1], weight[2]}});
}

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any&) {
  const TensorType& x = in[GroupedConvolution::kX];
  expect_weight(kGroupedConvolution, in, GroupedConvolution::kWeight, x);
  if (in.size() > GroupedConvolution::kBias) {
    expect_type(kGroupedConvolution, in, GroupedConvolution::kBias, {DType::kF32, {x.shape[1]}});
  }
  return {x};
}

double flops(std::span<const TensorType> in, const std::any&) {
  const Shape& weight = in[GroupedConvolution::kWeight].shape;
  return product_flops(in[GroupedConvolution::kX].shape, weight[1] * weight[2]);
}

std::vector<TensorType> infer_input_gradient(std::span<const TensorType> in, const std::any&) {
  const TensorType& dy = in[GroupedConvolutionInputGradient::kDy];
  expect_weight(kGroupedConvolutionInputGradient, in, GroupedConvolutionInputGradient::kWeight, dy);
  return {dy};
}

double input_gradient_flops(std::span<const TensorType> in, const std::any&) {
  const Shape& weight = in[GroupedConvolutionInputGradient::kWeight].shape;
  return product_flops(in[GroupedConvolutionInputGradient::kDy].shape, weight[1] * weight[2]);
}

const GroupedConvolutionWeightGradientAttributes& gradient_of(const std::any& attributes) {
  return std::any_cast<const GroupedConvolutionWeightGradientAttributes&>(attributes);
}

std::vector<TensorType> infer_weight_gradient(std::span<const TensorType> in,
                                              const std::any& attributes) {
  const auto& [group_size, width, has_bias] = gradient_of(attributes);
  const TensorType& dy = in[GroupedConvolutionWeightGradient::kDy];
  expect_groups(kGroupedConvolutionWeightGradient, dy, group_size, width);
  expect_type(kGroupedConvolutionWeightGradient, in, GroupedConvolutionWeightGradient::kX, dy);
  std::vector<TensorType> types{{DType::kF32, {dy.shape[1], group_size, width}}};
  if (has_bias) types.push_back({DType::kF32, {dy.shape[1]}});
  return types;
}

double weight_gradient_flops(std::span<const TensorType> in, const std::any& attributes) {
  const auto& gradient = gradient_of(attributes);
  return product_flops(in[GroupedConvolutionWeightGradient::kDy].shape,
                       gradient.group_size * gradient.width);
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  const std::vector<Value>& in = request.node.inputs;
  const Value dy = request.output_gradients[GroupedConvolution::kY];
  const Value starts = in[GroupedConvolution::kSequenceStarts];
  const bool has_bias = in.size() > GroupedConvolution::kBias;
  const Shape weight = graph.type(in[GroupedConvolution::kWeight]).shape;
  std::vector<Value> result(in.size());
  if (request.wanted[GroupedConvolution::kX]) {
    result[GroupedConvolution::kX] = graph.add_one(kGroupedConvolutionInputGradient,
                                                   {dy, in[GroupedConvolution::kWeight], starts});
  }
  const std::vector<Value> of_parameters =
      graph.add(kGroupedConvolutionWeightGradient, {dy, in[GroupedConvolution::kX], starts},
                GroupedConvolutionWeightGradientAttributes{weight[1], weight[2], has_bias});
  result[GroupedConvolution::kWeight] = of_parameters[GroupedConvolutionWeightGradient::kDweight];
  if (has_bias) {
    result[GroupedConvolution::kBias] = of_parameters[GroupedConvolutionWeightGradient::kDbias];
  }
  return result;
}

}  // namespace

const graph::OpDefinition kGroupedConvolution{.name = "grouped_convolution",
                                              .inputs = {"x", "weight", "sequence_starts", "bias"},
                                              .optional_inputs = 1,
                                              .weight_inputs = {GroupedConvolution::kWeight},
                                              .infer = infer,
                                              .differentiate = differentiate,
                                              .flops = flops};
const graph::OpDefinition kGroupedConvolutionInputGradient{
    .name = "grouped_convolution_input_gradient",
    .inputs = {"dy", "weight", "sequence_starts"},
    .weight_inputs = {GroupedConvolutionInputGradient::kWeight},
    .infer = infer_input_gradient,
    .flops = input_gradient_flops};
const graph::OpDefinition kGroupedConvolutionWeightGradient{
    .name = "grouped_convolution_weight_gradient",
    .inputs = {"dy", "x", "sequence_starts"},
    .infer = infer_weight_gradient,
    .flops = weight_gradient_flops,
    .accumulable_outputs = {GroupedConvolutionWeightGradient::kDweight,
                            GroupedConvolutionWeightGradient::kDbias}};

Value grouped_convolution(Graph& graph, const GroupedConvolutionInputs& in) {
  std::vector<Value> inputs{in.x, in.weight, in.sequence_starts};
  if (in.bias.valid()) inputs.push_back(in.bias);
  return graph.add_one(kGroupedConvolution, std::move(inputs));
}

}  // namespace cloze::ops
