#include "ops/layer_norm.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any&) {
  const TensorType& x = in[LayerNorm::kX];
  const TensorType per_channel{DType::kF32, {x.shape[1]}};
  expect_type(kLayerNorm, in, LayerNorm::kGamma, per_channel);
  expect_type(kLayerNorm, in, LayerNorm::kBeta, per_channel);
  const TensorType per_row{DType::kF32, {x.shape[0]}};
  return {x, per_row, per_row};
}

std::vector<TensorType> infer_gradient(std::span<const TensorType> in, const std::any&) {
  const TensorType& gamma = in[LayerNormGradient::kGamma];
  expect_type(kLayerNormGradient, in, LayerNormGradient::kDy, in[LayerNormGradient::kX]);
  return {in[LayerNormGradient::kX], gamma, gamma};
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  const graph::Node& node = request.node;
  return graph.add(kLayerNormGradient,
                   {request.output_gradients[LayerNorm::kY], node.inputs[LayerNorm::kX],
                    node.inputs[LayerNorm::kGamma], node.outputs[LayerNorm::kMean],
                    node.outputs[LayerNorm::kRstd]});
}

}  // namespace

const graph::OpDefinition kLayerNorm{.name = "layer_norm",
                                     .inputs = {"x", "gamma", "beta"},
                                     .infer = infer,
                                     .differentiate = differentiate};
const graph::OpDefinition kLayerNormGradient{
    .name = "layer_norm_gradient",
    .inputs = {"dy", "x", "gamma", "mean", "rstd"},
    .infer = infer_gradient,
    .accumulable_outputs = {LayerNormGradient::kDgamma, LayerNormGradient::kDbeta}};

Value layer_norm(Graph& graph, Value x, Value gamma, Value beta, double epsilon) {
  return graph.add(kLayerNorm, {x, gamma, beta}, LayerNormAttributes{epsilon})[LayerNorm::kY];
}

}  // namespace cloze::ops
