#include "ops/dropout_add_layer_norm.h"

#include <utility>

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

using enum DropoutAddLayerNorm::Input;
using enum DropoutAddLayerNorm::Output;

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any&) {
  expect_type(kDropoutAddLayerNorm, in, kResidual, in[kX]);
  const TensorType per_channel{DType::kF32, {in[kX].shape[1]}};
  expect_type(kDropoutAddLayerNorm, in, kGamma, per_channel);
  expect_type(kDropoutAddLayerNorm, in, kBeta, per_channel);
  const TensorType per_row{DType::kF32, {in[kX].shape[0]}};
  return {in[kX], in[kX], per_row, per_row};
}

std::vector<TensorType> infer_gradient(std::span<const TensorType> in, const std::any&) {
  const TensorType& z = in[DropoutAddLayerNormGradient::kZ];
  const TensorType& gamma = in[DropoutAddLayerNormGradient::kGamma];
  expect_type(kDropoutAddLayerNormGradient, in, DropoutAddLayerNormGradient::kDy, z);
  constexpr size_t kDzRead = DropoutAddLayerNormGradient::kDzRead;
  if (in.size() > kDzRead) expect_type(kDropoutAddLayerNormGradient, in, kDzRead, z);
  return {z, z, gamma, gamma};
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  const std::vector<Value>& in = request.node.inputs;
  const std::vector<Value>& out = request.node.outputs;
  std::vector<Value> inputs = {request.output_gradients[kY],
                               out[kZ],
                               in[kGamma],
                               out[kMean],
                               out[kRstd],
                               in[kSampleIds],
                               in[kPositionIds],
                               in[kRandomKey]};
  if (request.output_gradients[kZ].valid()) inputs.push_back(request.output_gradients[kZ]);
  std::vector<Value> result =
      graph.add(kDropoutAddLayerNormGradient, std::move(inputs), request.node.attributes);
  result.resize(in.size());
  return result;
}

}  // namespace

const graph::OpDefinition kDropoutAddLayerNorm{
    .name = "dropout_add_layer_norm",
    .inputs = {"x", "residual", "gamma", "beta", "sample_ids", "position_ids", "random_key"},
    .infer = infer,
    .differentiate = differentiate};
const graph::OpDefinition kDropoutAddLayerNormGradient{
    .name = "dropout_add_layer_norm_gradient",
    .inputs = {"dy", "z", "gamma", "mean", "rstd", "sample_ids", "position_ids", "random_key",
               "dz_read"},
    .optional_inputs = 1,
    .infer = infer_gradient,
    .accumulable_outputs = {DropoutAddLayerNormGradient::kDgamma,
                            DropoutAddLayerNormGradient::kDbeta}};

SumAndNorm dropout_add_layer_norm(Graph& graph, const DropoutAddLayerNormInputs& in,
                                  const RandomInputs& random, double rate, double epsilon) {
  const DropoutAddLayerNormAttributes attributes{rate, graph.next_random_site(), epsilon};
  const std::vector<Value> out = graph.add(kDropoutAddLayerNorm,
                                           {in.x, in.residual, in.gamma, in.beta, random.sample_ids,
                                            random.position_ids, random.random_key},
                                           attributes);
  return {.z = out[kZ], .y = out[kY]};
}

}  // namespace cloze::ops
