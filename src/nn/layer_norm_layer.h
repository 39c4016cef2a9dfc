// LayerNorm as models use it, with its own parameters, in its three uses.
//
//   weight [H]   ones        bias [H]   zeros        (gamma and beta of the papers)
#pragma once

#include <string_view>

#include "graph/graph.h"
#include "ops/dropout.h"
#include "ops/dropout_add_layer_norm.h"

namespace cloze::nn {

struct LayerNormParameters {
  graph::Value gamma, beta;  // [H]
};
// Named scope.name.weight and scope.name.bias.
LayerNormParameters layer_norm_parameters(graph::Graph& graph, std::string_view name,
                                          int64_t hidden_size);

// y = layer_norm(x).  Parameters are named scope.name.weight and scope.name.bias.
graph::Value layer_norm_layer(graph::Graph& graph, std::string_view name, graph::Value x,
                              double epsilon);

struct ResidualNorm {
  double dropout_rate = 0.0;
  double epsilon = 1e-12;
};

// y = layer_norm(residual + dropout(x)): how a post-norm sublayer ends.
graph::Value residual_norm_layer(graph::Graph& graph, std::string_view name, graph::Value x,
                                 graph::Value residual, const ops::RandomInputs& random,
                                 const ResidualNorm& layer);

// z = residual + dropout(x), y = layer_norm(z) by the parameters of the sublayer that follows: how
// a pre-norm sublayer ends.
ops::SumAndNorm pre_norm_sum(graph::Graph& graph, graph::Value x, graph::Value residual,
                             const LayerNormParameters& next, const ops::RandomInputs& random,
                             const ResidualNorm& layer);

}  // namespace cloze::nn
