// gated_linear_unit: values let through by gates. One product (linear) makes both, gates first.
//
//   y[m, n] = x[m, N + n] / (1 + e^-x[m, n])     n < N
//
// Inputs:  x [M, 2N] f32 | bf16 | f16, gates and then values.   Outputs: y [M, N] as x
// gated_linear_unit_gradient: dy [M, N], x [M, 2N] -> dx [M, 2N].
// Source: Dauphin et al., arXiv 1612.08083; the halves lie as in optimum-graphcore's GroupBERT.
#pragma once

#include "graph/graph.h"

namespace cloze::ops {

struct GatedLinearUnit {
  enum Input { kX };
  enum Output { kY };
};
struct GatedLinearUnitGradient {
  enum Input { kDy, kX };
  enum Output { kDx };
};

extern const graph::OpDefinition kGatedLinearUnit;
extern const graph::OpDefinition kGatedLinearUnitGradient;

graph::Value gated_linear_unit(graph::Graph& graph, graph::Value x);

}  // namespace cloze::ops
