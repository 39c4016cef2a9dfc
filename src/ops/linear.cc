#include "ops/linear.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

using graph::GradientRequest;
using graph::Graph;
using graph::Value;

double product_flops(int64_t m, int64_t n, int64_t k) {
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any& attributes) {
  expect_inputs("linear", in, 2, 3);
  const int64_t rows = in[0].shape[0];
  const int64_t outputs = in[1].shape[0];
  expect_type("linear", "weight", in[1], {DType::kF32, {outputs, in[0].shape[1]}});
  if (in.size() == 3) expect_type("linear", "bias", in[2], {DType::kF32, {outputs}});
  const TensorType y{in[0].dtype, {rows, outputs}};
  if (std::any_cast<const LinearAttributes&>(attributes).activation) return {y, y};
  return {y};
}

double flops(std::span<const TensorType> in, const std::any&) {
  return product_flops(in[0].shape[0], in[1].shape[0], in[0].shape[1]);
}

std::vector<TensorType> infer_input_gradient(std::span<const TensorType> in, const std::any&) {
  expect_inputs("linear_input_gradient", in, 2, 2);
  expect_type("linear_input_gradient", "weight", in[1],
              {DType::kF32, {in[0].shape[1], in[1].shape[1]}});
  return {{in[0].dtype, {in[0].shape[0], in[1].shape[1]}}};
}

double input_gradient_flops(std::span<const TensorType> in, const std::any&) {
  return product_flops(in[0].shape[0], in[1].shape[0], in[1].shape[1]);
}

std::vector<TensorType> infer_weight_gradient(std::span<const TensorType> in,
                                              const std::any& attributes) {
  expect_inputs("linear_weight_gradient", in, 2, 2);
  expect_type("linear_weight_gradient", "x", in[1],
              {in[0].dtype, {in[0].shape[0], in[1].shape[1]}});
  const int64_t outputs = in[0].shape[1];
  std::vector<TensorType> types{{DType::kF32, {outputs, in[1].shape[1]}}};
  if (std::any_cast<const LinearWeightGradientAttributes&>(attributes).has_bias) {
    types.push_back({DType::kF32, {outputs}});
  }
  return types;
}

double weight_gradient_flops(std::span<const TensorType> in, const std::any&) {
  return product_flops(in[0].shape[0], in[0].shape[1], in[1].shape[1]);
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  const std::vector<Value>& in = request.node.inputs;
  const bool has_bias = in.size() == 3;
  const Value dy = request.output_gradients[0];
  std::vector<Value> result(in.size());
  if (request.wanted[0]) result[0] = graph.add_one(kLinearInputGradient, {dy, in[1]});
  const std::vector<Value> gradients =
      graph.add(kLinearWeightGradient, {dy, in[0]}, LinearWeightGradientAttributes{has_bias});
  result[1] = gradients[0];
  if (has_bias) result[2] = gradients[1];
  return result;
}

}  // namespace

// Differentiated before the fuse pass, so the rule never meets an activation.
const graph::OpDefinition kLinear{
    .name = "linear", .infer = infer, .differentiate = differentiate, .flops = flops};
const graph::OpDefinition kLinearInputGradient{
    .name = "linear_input_gradient", .infer = infer_input_gradient, .flops = input_gradient_flops};
const graph::OpDefinition kLinearWeightGradient{.name = "linear_weight_gradient",
                                                .infer = infer_weight_gradient,
                                                .flops = weight_gradient_flops,
                                                .accumulable_outputs = {0, 1}};

Value linear(Graph& graph, const LinearInputs& in) {
  std::vector<Value> inputs{in.x, in.weight};
  if (in.bias.valid()) inputs.push_back(in.bias);
  return graph.add_one(kLinear, std::move(inputs), LinearAttributes{});
}

}  // namespace cloze::ops
