// tanh: the hyperbolic tangent of every element (the pooler's activation).
// Inputs:  x f32 | bf16 | f16, any shape.   Outputs: y as x.
// tanh_gradient: dy, y -> dx = dy (1 - y^2).
#pragma once

#include "graph/graph.h"

namespace cloze::ops {

struct Tanh {
  enum Input { kX };
  enum Output { kY };
};
struct TanhGradient {
  enum Input { kDy, kY };
  enum Output { kDx };
};

extern const graph::OpDefinition kTanh;
extern const graph::OpDefinition kTanhGradient;

graph::Value tanh(graph::Graph& graph, graph::Value x);

}  // namespace cloze::ops
