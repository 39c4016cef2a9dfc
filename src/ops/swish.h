// swish: x times the logistic function of x (SiLU).
//
//   y = x / (1 + e^-x)
//
// Inputs:  x f32 | bf16 | f16, any shape.   Outputs: y as x.   swish_gradient: dy, x -> dx.
// Source: Ramachandran, Zoph, Le, arXiv 1710.05941; "swish" and "silu" of transformers.
#pragma once

#include "graph/graph.h"

namespace cloze::ops {

struct Swish {
  enum Input { kX };
  enum Output { kY };
};
struct SwishGradient {
  enum Input { kDy, kX };
  enum Output { kDx };
};

extern const graph::OpDefinition kSwish;
extern const graph::OpDefinition kSwishGradient;

graph::Value swish(graph::Graph& graph, graph::Value x);

}  // namespace cloze::ops
