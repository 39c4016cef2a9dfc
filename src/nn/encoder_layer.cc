#include "nn/encoder_layer.h"

#include "nn/layer_norm_layer.h"
#include "nn/linear_layer.h"
#include "nn/self_attention.h"

namespace cloze::nn {
namespace {

using graph::Graph;
using graph::Value;

Value attention_block(Graph& graph, Value x, Value sequence_starts, const ops::RandomInputs& random,
                      const EncoderLayer& layer) {
  const auto scope = graph.scope("attention");
  const Value context = self_attention(graph, x, sequence_starts, random, layer);
  const auto output = graph.scope("output");
  const Value projected = linear_layer(graph, "dense", context,
                                       {.out_features = graph.type(x).shape[1],
                                        .initializer_range = layer.initializer_range,
                                        .has_bias = layer.has_attention_projection_bias});
  return residual_norm_layer(graph, "LayerNorm", projected, x, random,
                             {layer.hidden_dropout_rate, layer.layer_norm_epsilon});
}

Value feed_forward_block(Graph& graph, Value x, const ops::RandomInputs& random,
                         const EncoderLayer& layer) {
  Value hidden;
  {
    const auto scope = graph.scope("intermediate");
    hidden = linear_layer(
        graph, "dense", x,
        {.out_features = layer.intermediate_size, .initializer_range = layer.initializer_range});
    hidden = ops::gelu(graph, hidden, layer.activation);
  }
  const auto scope = graph.scope("output");
  const Value projected = linear_layer(
      graph, "dense", hidden,
      {.out_features = graph.type(x).shape[1], .initializer_range = layer.initializer_range});
  return residual_norm_layer(graph, "LayerNorm", projected, x, random,
                             {layer.hidden_dropout_rate, layer.layer_norm_epsilon});
}

}  // namespace

Value encoder_layer(Graph& graph, Value x, Value sequence_starts, const ops::RandomInputs& random,
                    const EncoderLayer& layer) {
  const Value attended = attention_block(graph, x, sequence_starts, random, layer);
  return feed_forward_block(graph, attended, random, layer);
}

}  // namespace cloze::nn
