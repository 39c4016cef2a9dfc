// Packed weights: products that only infer read weights laid out once instead of in every call.
//
//   before                         after
//   y = linear(x, w, b)            y = packed_linear(x, packed.w, b)
//                                  (kRefresh)  packed.w = pack_weight(w)
//
// An activation that fuse_activations() gave to a linear stays with it, but the output that it keeps
// for the backward pass is dropped, so this pass is for graphs without a backward pass.
#pragma once

#include "graph/graph.h"
#include "ops/packed_linear.h"

namespace cloze::passes {

struct WeightPacking {
  ops::WeightLayout layout;
  DType dtype = DType::kF32;  // of the packed weights: f32 or bf16
  // Activations have this dtype, too: use_compute_dtype() (precision.h) has to run next. Products
  // that are outputs of the graph give f32, so that scores are as exact as the sums.
  bool is_of_activations = false;
  // Consecutive products that read the same x, such as queries, keys and values, become one node.
  bool joins_products = false;
};

void pack_weights(graph::Graph& graph, const WeightPacking& packing);

}  // namespace cloze::passes
