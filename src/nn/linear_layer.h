// The dense layer as models use it: y = x weight^T + bias with its own parameters.
//
//   weight [out, in]   truncated normal        bias [out]   zeros, left out unless has_bias
#pragma once

#include <string_view>

#include "graph/graph.h"

namespace cloze::nn {

struct LinearLayer {
  int64_t out_features = 0;
  double initializer_range = 0.02;
  bool has_bias = true;
};

// Parameters are named scope.name.weight and scope.name.bias.  x [M, in] -> [M, out]
graph::Value linear_layer(graph::Graph& graph, std::string_view name, graph::Value x,
                          const LinearLayer& layer);

}  // namespace cloze::nn
