// Packed weights: products read copies of weights that are made once instead of in every call, in
// the phase kRefresh, which runs when parameters have changed.
//
//   before                                        after
//   pack_weights()    y = linear(x, w, b)         y = packed_linear(x, packed.w, b)
//   round_weights()   y = linear(x bf16, w f32)   y = linear(x bf16, packed.w bf16)
//                                                 (kRefresh)  packed.w = pack_weight(w)
//
// pack_weights() is for graphs without a backward pass: an activation that fuse_activations() gave to
// a linear stays with it, but the output that it keeps for the backward pass is dropped.
//
// round_weights() is for training: whatever computes with a parameter rounded to bf16
// (OpDefinition::weight_inputs) reads a copy in bf16, forward and backward. The results are the same
// bytes.
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

// Takes nodes whose activations have this dtype.
void round_weights(graph::Graph& graph, DType activations);

}  // namespace cloze::passes
