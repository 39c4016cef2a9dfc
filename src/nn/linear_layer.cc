#include "nn/linear_layer.h"

#include "ops/linear.h"

namespace cloze::nn {

graph::Value linear_layer(graph::Graph& graph, std::string_view name, graph::Value x,
                          const LinearLayer& layer) {
  const auto scope = graph.scope(name);
  const int64_t in_features = graph.type(x).shape[1];
  const auto init = graph::Init::truncated_normal(layer.initializer_range);
  const graph::Value weight =
      graph.add_parameter("weight", {layer.out_features, in_features}, init);
  graph::Value bias;
  if (layer.has_bias) {
    bias = graph.add_parameter("bias", {layer.out_features}, graph::Init::zeros(),
                               graph::kVectorTraits);
  }
  return ops::linear(graph, {.x = x, .weight = weight, .bias = bias});
}

}  // namespace cloze::nn
