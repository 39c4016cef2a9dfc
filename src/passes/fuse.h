// Fusion: pairs of operators that one kernel does in one pass over memory.
//
//   u = linear(x, w, b);  y = gelu(u)              becomes  y, u = linear[gelu](x, w, b)
//   (gelu_gradient goes on reading u)
//
//   loss = vocabulary_loss(x, ...)
//   dx, dtable =                                   becomes  loss, dx, dtable =
//     vocabulary_loss_gradient(dloss, x, ...)                 vocabulary_loss_with_gradient(...)
//   (at the place of the forward node)
//
// The second saves a whole projection on the vocabulary: the backward pass need not compute the
// logits again, and still they never exist in full. Run after differentiate() and before
// accumulate_in_place().
#pragma once

#include "graph/graph.h"

namespace cloze::passes {

void fuse_activations(graph::Graph& graph);
void fuse_vocabulary_loss(graph::Graph& graph);

}  // namespace cloze::passes
