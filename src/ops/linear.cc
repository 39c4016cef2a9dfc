#include "ops/linear.h"

#include "ops/product_rules.h"

namespace cloze::ops {
namespace {

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any& attributes) {
  const TensorType& x = in[Linear::kX];
  const int64_t outputs = in[Linear::kWeight].shape[0];
  expect_weight(kLinear, in, Linear::kWeight, x.dtype, {outputs, x.shape[1]});
  if (in.size() > Linear::kBias) expect_type(kLinear, in, Linear::kBias, {DType::kF32, {outputs}});
  const TensorType y{x.dtype, {x.shape[0], outputs}};
  if (std::any_cast<const LinearAttributes&>(attributes).activation) return {y, y};
  return {y};
}

std::vector<TensorType> infer_input_gradient(std::span<const TensorType> in, const std::any&) {
  const TensorType& dy = in[LinearInputGradient::kDy];
  const int64_t inputs = in[LinearInputGradient::kWeight].shape[1];
  expect_weight(kLinearInputGradient, in, LinearInputGradient::kWeight, dy.dtype,
                {dy.shape[1], inputs});
  return {{dy.dtype, {dy.shape[0], inputs}}};
}

std::vector<TensorType> infer_weight_gradient(std::span<const TensorType> in,
                                              const std::any& attributes) {
  const TensorType& dy = in[LinearWeightGradient::kDy];
  const int64_t inputs = in[LinearWeightGradient::kX].shape[1];
  expect_type(kLinearWeightGradient, in, LinearWeightGradient::kX,
              {dy.dtype, {dy.shape[0], inputs}});
  return parameter_gradients(
      {dy.shape[1], inputs},
      std::any_cast<const LinearWeightGradientAttributes&>(attributes).has_bias);
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  return differentiate_product(
      graph, request,
      {.of_input = kLinearInputGradient,
       .of_weight = kLinearWeightGradient,
       .weight_attributes = LinearWeightGradientAttributes{has_bias(request.node)}});
}

}  // namespace

// Differentiated before the fuse pass, so the rule never meets an activation.
const graph::OpDefinition kLinear{.name = "linear",
                                  .inputs = {"x", "weight", "bias"},
                                  .optional_inputs = 1,
                                  .weight_inputs = {Linear::kWeight},
                                  .infer = infer,
                                  .differentiate = differentiate,
                                  .flops = product_flops};
const graph::OpDefinition kLinearInputGradient{.name = "linear_input_gradient",
                                               .inputs = {"dy", "weight"},
                                               .weight_inputs = {LinearInputGradient::kWeight},
                                               .infer = infer_input_gradient,
                                               .flops = product_flops};
const graph::OpDefinition kLinearWeightGradient{
    .name = "linear_weight_gradient",
    .inputs = {"dy", "x"},
    .infer = infer_weight_gradient,
    .flops = weight_gradient_flops<infer_weight_gradient>,
    .accumulable_outputs = {LinearWeightGradient::kDweight, LinearWeightGradient::kDbias}};

Value linear(Graph& graph, const LinearInputs& in) {
  std::vector<Value> inputs{in.x, in.weight};
  if (in.bias.valid()) inputs.push_back(in.bias);
  return graph.add_one(kLinear, std::move(inputs), LinearAttributes{});
}

}  // namespace cloze::ops
