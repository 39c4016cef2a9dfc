#include "nn/groupbert_layer.h"

#include <cmath>

#include "nn/linear_layer.h"
#include "nn/self_attention.h"
#include "ops/gated_linear_unit.h"
#include "ops/gelu.h"
#include "ops/grouped_convolution.h"
#include "ops/grouped_linear.h"
#include "ops/swish.h"

namespace cloze::nn {
namespace {

using graph::Graph;
using graph::Init;
using graph::Value;

LinearLayer dense(const GroupBertLayer& layer, int64_t out_features) {
  return {.out_features = out_features, .initializer_range = layer.common.initializer_range};
}

// Glorot's limit, as TensorFlow's default initialiser has it.
Value grouped_convolution(Graph& graph, Value x, Value sequence_starts,
                          const GroupBertLayer& layer) {
  const auto scope = graph.scope("groupconv");
  const int64_t hidden = graph.type(x).shape[1];
  const auto inputs = static_cast<double>(layer.conv_group_size * layer.conv_kernel_size);
  const auto outputs = static_cast<double>(hidden * layer.conv_kernel_size);
  const Value weight =
      graph.add_parameter("weight", {hidden, layer.conv_group_size, layer.conv_kernel_size},
                          Init::uniform(std::sqrt(6.0 / (inputs + outputs))));
  Value bias;
  if (layer.has_convolution_bias) {
    bias = graph.add_parameter("bias", {hidden}, Init::zeros(), graph::kVectorTraits);
  }
  return ops::grouped_convolution(
      graph, {.x = x, .weight = weight, .sequence_starts = sequence_starts, .bias = bias});
}

Value convolution(Graph& graph, Value normed, Value sequence_starts, const GroupBertLayer& layer) {
  const auto scope = graph.scope("convolution");
  const int64_t hidden = graph.type(normed).shape[1];
  const Value gated =
      ops::gated_linear_unit(graph, linear_layer(graph, "glu", normed, dense(layer, 2 * hidden)));
  const Value convolved = grouped_convolution(graph, gated, sequence_starts, layer);
  const Value activated = ops::swish(
      graph, layer_norm_layer(graph, "conv_norm", convolved, layer.common.layer_norm_epsilon));
  return linear_layer(graph, "output_projection", activated, dense(layer, hidden));
}

// The bias does not start from zeros in TensorFlow's program, either.
Value grouped_matmul(Graph& graph, Value x, int64_t out_features, const GroupBertLayer& layer) {
  const auto scope = graph.scope("grouped_matmul");
  const Init init = Init::truncated_normal(layer.common.initializer_range);
  const Value weight = graph.add_parameter(
      "weight", {out_features, graph.type(x).shape[1] / layer.ffn_groups, 1}, init);
  const Value bias = graph.add_parameter("bias", {out_features}, init, graph::kVectorTraits);
  return ops::grouped_linear(graph, {.x = x, .weight = weight, .bias = bias});
}

Value feed_forward(Graph& graph, Value normed, std::string_view intermediate,
                   std::string_view output, const GroupBertLayer& layer) {
  const int64_t hidden = graph.type(normed).shape[1];
  Value activated;
  {
    const auto scope = graph.scope(intermediate);
    activated = ops::gelu(
        graph, linear_layer(graph, "dense", normed, dense(layer, layer.common.intermediate_size)),
        layer.common.activation);
  }
  const auto scope = graph.scope(output);
  const Value grouped = grouped_matmul(graph, activated, hidden, layer);
  if (layer.ffn_groups == 1) return grouped;
  return linear_layer(graph, "dense_output_projection", grouped, dense(layer, hidden));
}

Value attention(Graph& graph, Value normed, Value sequence_starts, const ops::RandomInputs& random,
                const GroupBertLayer& layer) {
  const auto scope = graph.scope("attention");
  const Value context = self_attention(graph, normed, sequence_starts, random, layer.common);
  LinearLayer projection = dense(layer, graph.type(normed).shape[1]);
  projection.has_bias = layer.common.has_attention_projection_bias;
  return linear_layer(graph, "output.dense", context, projection);
}

LayerNormParameters norm_in(Graph& graph, std::string_view module, int64_t hidden_size) {
  const auto scope = graph.scope(module);
  return layer_norm_parameters(graph, "LayerNorm", hidden_size);
}

}  // namespace

LayerNormParameters groupbert_first_norm(Graph& graph, int64_t hidden_size) {
  return layer_norm_parameters(graph, "convolution.prenorm", hidden_size);
}

ops::SumAndNorm groupbert_layer(Graph& graph, const ops::SumAndNorm& x, Value sequence_starts,
                                const ops::RandomInputs& random, const LayerNormParameters& next,
                                const GroupBertLayer& layer) {
  const int64_t hidden = graph.type(x.z).shape[1];
  ops::SumAndNorm state = x;
  const auto add = [&](Value result, const LayerNormParameters& norm) {
    state = pre_norm_sum(graph, result, state.z, norm, random,
                         {layer.common.hidden_dropout_rate, layer.common.layer_norm_epsilon});
  };
  add(convolution(graph, state.y, sequence_starts, layer),
      norm_in(graph, "intermediate_first", hidden));
  add(feed_forward(graph, state.y, "intermediate_first", "output_first", layer),
      norm_in(graph, "attention", hidden));
  add(attention(graph, state.y, sequence_starts, random, layer),
      norm_in(graph, "intermediate_second", hidden));
  add(feed_forward(graph, state.y, "intermediate_second", "output_second", layer), next);
  return state;
}

}  // namespace cloze::nn
