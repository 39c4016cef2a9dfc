#include "ops/grouped_convolution.h"

#include "ops/product_rules.h"

namespace cloze::ops {
namespace {

// Checks the groups of x or dy with weights [H, C, W].
void expect_groups(const graph::OpDefinition& op, const TensorType& x, int64_t group_size,
                   int64_t width) {
  CLOZE_CHECK(group_size > 0 && x.shape[1] % group_size == 0, "{}: groups of {} in {} channels",
              op.name, group_size, x.shape[1]);
  CLOZE_CHECK(width % 2 == 1, "{}: a width of {} is even", op.name, width);
}

void expect_window(const graph::OpDefinition& op, std::span<const TensorType> in, size_t input,
                   const TensorType& x) {
  const Shape& weight = in[input].shape;
  expect_groups(op, x, weight[1], weight[2]);
  expect_weight(op, in, input, x.dtype, {x.shape[1], weight[1], weight[2]});
}

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any&) {
  const TensorType& x = in[GroupedConvolution::kX];
  expect_window(kGroupedConvolution, in, GroupedConvolution::kWeight, x);
  if (in.size() > GroupedConvolution::kBias) {
    expect_type(kGroupedConvolution, in, GroupedConvolution::kBias, {DType::kF32, {x.shape[1]}});
  }
  return {x};
}

std::vector<TensorType> infer_input_gradient(std::span<const TensorType> in, const std::any&) {
  const TensorType& dy = in[GroupedConvolutionInputGradient::kDy];
  expect_window(kGroupedConvolutionInputGradient, in, GroupedConvolutionInputGradient::kWeight, dy);
  return {dy};
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
  return parameter_gradients({dy.shape[1], group_size, width}, has_bias);
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  const Shape weight = graph.type(request.node.inputs[GroupedConvolution::kWeight]).shape;
  return differentiate_product(graph, request,
                               {.of_input = kGroupedConvolutionInputGradient,
                                .of_weight = kGroupedConvolutionWeightGradient,
                                .weight_attributes = GroupedConvolutionWeightGradientAttributes{
                                    weight[1], weight[2], has_bias(request.node)}});
}

}  // namespace

const graph::OpDefinition kGroupedConvolution{.name = "grouped_convolution",
                                              .inputs = {"x", "weight", "sequence_starts", "bias"},
                                              .optional_inputs = 1,
                                              .weight_inputs = {GroupedConvolution::kWeight},
                                              .infer = infer,
                                              .differentiate = differentiate,
                                              .flops = product_flops};
const graph::OpDefinition kGroupedConvolutionInputGradient{
    .name = "grouped_convolution_input_gradient",
    .inputs = {"dy", "weight", "sequence_starts"},
    .weight_inputs = {GroupedConvolutionInputGradient::kWeight},
    .infer = infer_input_gradient,
    .flops = product_flops};
const graph::OpDefinition kGroupedConvolutionWeightGradient{
    .name = "grouped_convolution_weight_gradient",
    .inputs = {"dy", "x", "sequence_starts"},
    .infer = infer_weight_gradient,
    .flops = weight_gradient_flops<infer_weight_gradient>,
    .accumulable_outputs = {GroupedConvolutionWeightGradient::kDweight,
                            GroupedConvolutionWeightGradient::kDbias}};

Value grouped_convolution(Graph& graph, const GroupedConvolutionInputs& in) {
  std::vector<Value> inputs{in.x, in.weight, in.sequence_starts};
  if (in.bias.valid()) inputs.push_back(in.bias);
  return graph.add_one(kGroupedConvolution, std::move(inputs));
}

}  // namespace cloze::ops
