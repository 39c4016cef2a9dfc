// Passes of a backend for GPUs over a program that infers: bf16 weights are kept as bf16 copies, row by
// row, and activations are bf16, too; f32 weights stay what they are.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/gpu/weight_packing.h"
#include "backend/kernel.h"
#include "passes/fuse.h"
#include "passes/pack_weights.h"
#include "passes/precision.h"

namespace cloze::backend::gpu {

// Backend::inference_passes().
inline std::vector<GraphPass> inference_passes(DType weights) {
  std::vector<GraphPass> passes{{"fuse_activations", passes::fuse_activations}};
  if (weights == DType::kF32) return passes;
  passes.push_back({"pack_weights", [weights](graph::Graph& graph) {
                      passes::pack_weights(
                          graph,
                          {.layout = kPlainLayout, .dtype = weights, .is_of_activations = true});
                    }});
  passes.push_back({"use_compute_dtype",
                    [weights](graph::Graph& graph) { passes::use_compute_dtype(graph, weights); }});
  return passes;
}

// Backend::weight_layout(). A file without this fact is of another kind of device.
inline std::vector<LayoutFact> weight_layout() { return {{"row_by_row", true}}; }

}  // namespace cloze::backend::gpu
