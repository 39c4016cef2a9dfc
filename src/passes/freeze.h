// Freezing: a graph that infers, with weights that never change again.
//
//   before                                       after
//   y = packed_linear(x, packed.w, b)            y = packed_linear(x, packed.w, b)
//   (kRefresh)  packed.w = pack_weight(w)
//   variables: w, packed.w, b                    variables: packed.w, b
//
// What the micro-step reads is left, in the order of its first use: variables of the same names,
// all of them parameters now, whose values somebody has to bring.
#pragma once

#include "graph/graph.h"

namespace cloze::passes {

graph::Graph frozen(const graph::Graph& graph);

}  // namespace cloze::passes
