#include "nn/self_attention.h"

#include "nn/linear_layer.h"
#include "ops/attention.h"

namespace cloze::nn {

graph::Value self_attention(graph::Graph& graph, graph::Value x, graph::Value sequence_starts,
                            const ops::RandomInputs& random, const EncoderLayer& layer) {
  const auto scope = graph.scope("self");
  const LinearLayer projection{.out_features = graph.type(x).shape[1],
                               .initializer_range = layer.initializer_range,
                               .has_bias = layer.has_qkv_bias};
  const graph::Value q = linear_layer(graph, "query", x, projection);
  const graph::Value k = linear_layer(graph, "key", x, projection);
  const graph::Value v = linear_layer(graph, "value", x, projection);
  return ops::attention(graph, {.q = q, .k = k, .v = v, .sequence_starts = sequence_starts}, random,
                        {.num_heads = layer.num_heads,
                         .rate = layer.attention_dropout_rate,
                         .max_length = layer.max_length});
}

}  // namespace cloze::nn
