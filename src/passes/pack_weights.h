// Packed weights: products that only infer read weights laid out once instead of in every call.
//
//   before                         after
//   y = linear(x, w, b)            y = packed_linear(x, packed.w, b)
//                                  (kRefresh)  packed.w = pack_weight(w)
//
// Those that read the same x and follow each other, as queries, keys and values do, become one
// node. An activation that fuse_activations() gave a linear stays with it; what that kept for the
// backward pass goes away, so this is for graphs without one. Weights in pairs belong to products
// of bf16 activations: use_compute_dtype() (precision.h) comes next. There products that are
// outputs of the graph give f32, so that scores are as exact as the sums.
#pragma once

#include "graph/graph.h"
#include "ops/packed_linear.h"

namespace cloze::passes {

// Without panel_columns (backend/kernel.h) nothing is packed.
void pack_weights(graph::Graph& graph, const ops::PackWeightAttributes& packing);

}  // namespace cloze::passes
