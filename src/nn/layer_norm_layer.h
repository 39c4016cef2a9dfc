// LayerNorm as models use it, with its own parameters, in its two uses.
//
//   weight [H]   ones        bias [H]   zeros        (gamma and beta of the papers)
#pragma once

#include <string_view>

#include "graph/graph.h"
#include "ops/dropout.h"

namespace cloze::nn {

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

}  // namespace cloze::nn
