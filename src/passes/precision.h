// Compute dtype: lets the matrix products of an f32 forward graph run in bf16.
//
//   before                               after
//   embedding ─► f32 [T, H]              embedding ─► bf16 [T, H]
//   linear(x f32, w f32) ─► f32          linear(x bf16, copy of w bf16) ─► bf16
//                                        (kRefresh)  copy of w = cast(w)
//
// Activations take the compute dtype from the embedding onwards. Weights of products are read
// through a bf16 copy, unless they were packed as one (pack_weights.h); all other parameters,
// statistics and losses stay f32. Run before differentiate(). Alternative refused: casting inside
// each product kernel would convert every weight once per micro-batch instead of once per step.
#pragma once

#include "graph/graph.h"

namespace cloze::passes {

void use_compute_dtype(graph::Graph& graph, DType dtype);

}  // namespace cloze::passes
