// Packed weights: products that only infer read weights laid out once instead of in every call.
//
//   before                         after
//   y = linear(x, w, b)            y = packed_linear(x, packed.w, b)
//                                  (kRefresh)  packed.w = pack_weight(w)
//
// An activation that fuse_activations() gave a linear stays with it; what that kept for the
// backward pass goes away, so this is for graphs without one. Products of bf16 activations are left
// as they are: they belong to kernels with a layout of their own.
#pragma once

#include "graph/graph.h"

namespace cloze::passes {

struct WeightPacking {
  int64_t panel_columns = 0;  // of the backend (backend/kernel.h); 0: nothing is packed
  DType dtype = DType::kF32;  // of the packed weights: f32 or bf16
  bool strassen = false;      // large weights are packed for Strassen's algorithm
};

void pack_weights(graph::Graph& graph, const WeightPacking& packing);

}  // namespace cloze::passes
