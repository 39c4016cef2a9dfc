// Recomputation: the backward pass of an encoder layer computes again what its forward pass had,
// so that not all layers' activations are in memory at once.
//
//   before                              after
//   layer 0: x ─► a ─► b ─► y           layer 0: x ─► a ─► b ─► y
//   layer 1 ...                         layer 1 ...
//   gradients of layer 1                gradients of layer 1, after its own nodes again
//   gradients of layer 0 read a, b, y   x ─► a' ─► b';  gradients of layer 0 read a', b', y
//
// Kept from the forward pass is what the operator wrote that ends a layer (with
// dropout_add_layer_norm the sum and its statistics too, so that the product before it is not
// computed again). Everything else of a layer lives in one layer's time. What is computed again has
// the same bytes, dropout's masks included (ops/dropout_mask.h), so gradients do not change.
// Costs the layers' forward pass without its last product, which is a third of BERT's products and
// little of GroupBERT's: 21 % of a step of BERT-base, 31 % of one of GroupBERT-base (`cloze plan`).
// Run after all passes that join or replace forward nodes. Source: Chen et al., arXiv 1604.06174.
#pragma once

#include "graph/graph.h"

namespace cloze::passes {

void recompute_layers(graph::Graph& graph);

}  // namespace cloze::passes
