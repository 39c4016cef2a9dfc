// Recomputation: the backward pass of an encoder layer computes again what its forward pass had,
// so that not all layers' activations are in memory at once.
//
//   before                              after
//   layer 0: x ─► a ─► b ─► y           layer 0: x ─► a ─► b ─► y
//   layer 1 ...                         layer 1 ...
//   gradients of layer 1                gradients of layer 1, after its own nodes again
//   gradients of layer 0 read a, b, y   x ─► a' ─► b';  gradients of layer 0 read a', b', y
//
// From the forward pass only the output of the operator that ends a layer is kept (with
// dropout_add_layer_norm also its sum and statistics, so that the product before it is not computed
// again). All other activations live only while their layer is computed. Recomputed values have the
// same bytes, including dropout masks (ops/dropout_mask.h), so gradients do not change. The cost is
// the forward pass of the layers without its last product. That product is a third of the products
// of BERT and a small part of those of GroupBERT: the cost is 21 % of a step of BERT-base, 31 % of
// one of GroupBERT-base (`cloze plan`). Run this pass after all passes that join or replace forward
// nodes. Source: Chen et al., arXiv 1604.06174.
#pragma once

#include "graph/graph.h"

namespace cloze::passes {

void recompute_layers(graph::Graph& graph);

}  // namespace cloze::passes
