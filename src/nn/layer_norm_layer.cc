#include "nn/layer_norm_layer.h"

#include "ops/dropout_add_layer_norm.h"
#include "ops/layer_norm.h"

namespace cloze::nn {
namespace {

struct ScaleAndShift {
  graph::Value gamma, beta;  // [H]
};

ScaleAndShift add_scale_and_shift(graph::Graph& graph, std::string_view name, int64_t hidden) {
  const auto scope = graph.scope(name);
  const auto add = [&](std::string_view vector, const graph::Init& init) {
    return graph.add_parameter(vector, {hidden}, init, graph::kVectorTraits);
  };
  const graph::Value gamma = add("weight", graph::Init::ones());
  const graph::Value beta = add("bias", graph::Init::zeros());
  return {gamma, beta};
}

}  // namespace

graph::Value layer_norm_layer(graph::Graph& graph, std::string_view name, graph::Value x,
                              double epsilon) {
  const auto [gamma, beta] = add_scale_and_shift(graph, name, graph.type(x).shape[1]);
  return ops::layer_norm(graph, x, gamma, beta, epsilon);
}

graph::Value residual_norm_layer(graph::Graph& graph, std::string_view name, graph::Value x,
                                 graph::Value residual, const ops::RandomInputs& random,
                                 const ResidualNorm& layer) {
  const auto [gamma, beta] = add_scale_and_shift(graph, name, graph.type(x).shape[1]);
  return ops::dropout_add_layer_norm(graph,
                                     {.x = x, .residual = residual, .gamma = gamma, .beta = beta},
                                     random, layer.dropout_rate, layer.epsilon);
}

}  // namespace cloze::nn
