// Packed weights: products that only infer read weights laid out once instead of in every call.
//
//   before                         after
//   y = linear(x, w, b)            y = packed_linear(x, packed.w, b)
//                                  (kRefresh)  packed.w = pack_weight(w)
//
// Consecutive products that read the same x, such as queries, keys and values, become one node. An
// activation that fuse_activations() gave to a linear stays with it, but the output that it keeps
// for the backward pass is dropped, so this pass is for graphs without a backward pass. Weights in
// pairs belong to products of bf16 activations: use_compute_dtype() (precision.h) has to run next.
// In that layout, products that are outputs of the graph give f32, so that scores are as exact as
// the sums.
#pragma once

#include "graph/graph.h"
#include "ops/packed_linear.h"

namespace cloze::passes {

// Without panel_columns (backend/kernel.h) nothing is packed.
void pack_weights(graph::Graph& graph, const ops::PackWeightAttributes& packing);

}  // namespace cloze::passes
