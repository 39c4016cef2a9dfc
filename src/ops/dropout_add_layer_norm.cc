#include "ops/dropout_add_layer_norm.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

using graph::GradientRequest;
using graph::Graph;
using graph::Value;

enum Input { kX, kResidual, kGamma, kBeta, kSampleIds, kPositionIds, kRandomKey };
enum Output { kY, kZ, kMean, kRstd };

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any&) {
  constexpr std::string_view kName = "dropout_add_layer_norm";
  expect_inputs(kName, in, 7, 7);
  expect_type(kName, "residual", in[kResidual], in[kX]);
  const TensorType per_channel{DType::kF32, {in[kX].shape[1]}};
  expect_type(kName, "gamma", in[kGamma], per_channel);
  expect_type(kName, "beta", in[kBeta], per_channel);
  const TensorType per_row{DType::kF32, {in[kX].shape[0]}};
  return {in[kX], in[kX], per_row, per_row};
}

std::vector<TensorType> infer_gradient(std::span<const TensorType> in, const std::any&) {
  constexpr std::string_view kName = "dropout_add_layer_norm_gradient";
  expect_inputs(kName, in, 8, 8);
  expect_type(kName, "dy", in[0], in[1]);
  return {in[1], in[1], in[2], in[2]};
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  const std::vector<Value>& in = request.node.inputs;
  const std::vector<Value>& out = request.node.outputs;
  const std::vector<Value> gradients =
      graph.add(kDropoutAddLayerNormGradient,
                {request.output_gradients[kY], out[kZ], in[kGamma], out[kMean], out[kRstd],
                 in[kSampleIds], in[kPositionIds], in[kRandomKey]},
                request.node.attributes);
  return {gradients[0], gradients[1], gradients[2], gradients[3], {}, {}, {}};
}

}  // namespace

const graph::OpDefinition kDropoutAddLayerNorm{
    .name = "dropout_add_layer_norm", .infer = infer, .differentiate = differentiate};
const graph::OpDefinition kDropoutAddLayerNormGradient{.name = "dropout_add_layer_norm_gradient",
                                                       .infer = infer_gradient,
                                                       .accumulable_outputs = {2, 3}};

Value dropout_add_layer_norm(Graph& graph, const DropoutAddLayerNormInputs& in,
                             const RandomInputs& random, double rate, double epsilon) {
  const DropoutAddLayerNormAttributes attributes{rate, graph.next_random_site(), epsilon};
  return graph.add(kDropoutAddLayerNorm,
                   {in.x, in.residual, in.gamma, in.beta, random.sample_ids, random.position_ids,
                    random.random_key},
                   attributes)[kY];
}

}  // namespace cloze::ops
