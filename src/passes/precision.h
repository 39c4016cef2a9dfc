// Compute dtype: lets the matrix products of an f32 forward graph run in bf16 or f16.
//
//   before                               after
//   embedding ─► f32 [T, H]              embedding ─► bf16 [T, H]
//   linear(x f32, w f32) ─► f32          linear(x bf16, w f32) ─► bf16
//
// Activations take the compute dtype from the embedding onwards. Parameters, statistics and losses
// stay f32: products round their weight as they lay it out (ops/linear.h). Run before
// differentiate(). On the CPU copies of all weights in bf16, made once per step, would take 0.6 GiB of
// BERT-large and save a hundredth of a micro-batch's time; GPUs keep them (pack_weights.h).
#pragma once

#include "graph/graph.h"

namespace cloze::passes {

void use_compute_dtype(graph::Graph& graph, DType dtype);

}  // namespace cloze::passes
