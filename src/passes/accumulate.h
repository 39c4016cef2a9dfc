// Accumulation in place: an operator that can add its output to a variable does so itself.
//
//   dw = linear_weight_gradient(dy, x)
//   gradient.w += dw                         gradient.w += linear_weight_gradient(dy, x)
//
// Saves the memory of dw (for the word embeddings the largest tensor there is) and a pass over it.
#pragma once

#include "graph/graph.h"

namespace cloze::passes {

void accumulate_in_place(graph::Graph& graph);

}  // namespace cloze::passes
