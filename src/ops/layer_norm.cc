#include "ops/layer_norm.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

using graph::GradientRequest;
using graph::Graph;
using graph::Value;

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any&) {
  expect_inputs("layer_norm", in, 3, 3);
  const TensorType per_channel{DType::kF32, {in[0].shape[1]}};
  expect_type("layer_norm", "gamma", in[1], per_channel);
  expect_type("layer_norm", "beta", in[2], per_channel);
  const TensorType per_row{DType::kF32, {in[0].shape[0]}};
  return {in[0], per_row, per_row};
}

std::vector<TensorType> infer_gradient(std::span<const TensorType> in, const std::any&) {
  expect_inputs("layer_norm_gradient", in, 5, 5);
  expect_type("layer_norm_gradient", "dy", in[0], in[1]);
  return {in[1], in[2], in[2]};
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  const graph::Node& node = request.node;
  return graph.add(kLayerNormGradient, {request.output_gradients[0], node.inputs[0], node.inputs[1],
                                        node.outputs[1], node.outputs[2]});
}

}  // namespace

const graph::OpDefinition kLayerNorm{
    .name = "layer_norm", .infer = infer, .differentiate = differentiate};
const graph::OpDefinition kLayerNormGradient{
    .name = "layer_norm_gradient", .infer = infer_gradient, .accumulable_outputs = {1, 2}};

Value layer_norm(Graph& graph, Value x, Value gamma, Value beta, double epsilon) {
  return graph.add(kLayerNorm, {x, gamma, beta}, LayerNormAttributes{epsilon})[0];
}

}  // namespace cloze::ops
