#include "nn/layer_norm_layer.h"

#include "ops/layer_norm.h"

namespace cloze::nn {

LayerNormParameters layer_norm_parameters(graph::Graph& graph, std::string_view name,
                                          int64_t hidden_size) {
  const auto scope = graph.scope(name);
  const auto add = [&](std::string_view vector, const graph::Init& init) {
    return graph.add_parameter(vector, {hidden_size}, init, graph::kVectorTraits);
  };
  const graph::Value gamma = add("weight", graph::Init::ones());
  const graph::Value beta = add("bias", graph::Init::zeros());
  return {gamma, beta};
}

graph::Value layer_norm_layer(graph::Graph& graph, std::string_view name, graph::Value x,
                              double epsilon) {
  const auto [gamma, beta] = layer_norm_parameters(graph, name, graph.type(x).shape[1]);
  return ops::layer_norm(graph, x, gamma, beta, epsilon);
}

graph::Value residual_norm_layer(graph::Graph& graph, std::string_view name, graph::Value x,
                                 graph::Value residual, const ops::RandomInputs& random,
                                 const ResidualNorm& layer) {
  const auto next = layer_norm_parameters(graph, name, graph.type(x).shape[1]);
  return pre_norm_sum(graph, x, residual, next, random, layer).y;
}

ops::SumAndNorm pre_norm_sum(graph::Graph& graph, graph::Value x, graph::Value residual,
                             const LayerNormParameters& next, const ops::RandomInputs& random,
                             const ResidualNorm& layer) {
  return ops::dropout_add_layer_norm(
      graph, {.x = x, .residual = residual, .gamma = next.gamma, .beta = next.beta}, random,
      layer.dropout_rate, layer.epsilon);
}

}  // namespace cloze::nn
