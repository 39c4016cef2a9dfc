// Freezing: makes an inference graph whose weights never change again.
//
//   before                                       after
//   y = packed_linear(x, packed.w, b)            y = packed_linear(x, packed.w, b)
//   (kRefresh)  packed.w = pack_weight(w)
//   variables: w, packed.w, b                    variables: packed.w, b
//
// The new graph keeps the variables that the micro-step reads, under the same names and in the
// order of their first use. All of them are parameters, and the caller has to provide their values.
#pragma once

#include "graph/graph.h"

namespace cloze::passes {

graph::Graph frozen(const graph::Graph& graph);

}  // namespace cloze::passes
