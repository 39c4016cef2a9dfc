// Passes of a backend for GPUs. bf16 products read weights that were rounded once, row by row: in
// training once a step, from the f32 weights that the update changes; in programs that infer once
// for all, and their activations are bf16, too. f32 weights stay what they are.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/kernel.h"
#include "passes/fuse.h"
#include "passes/pack_weights.h"
#include "passes/precision.h"

namespace cloze::backend::gpu {

inline constexpr ops::WeightLayout kRowByRow{.columns = 1};
static_assert(kRowByRow.is_plain());

// Backend::training_passes().
inline std::vector<GraphPass> training_passes() {
  return {
      {"fuse_activations", passes::fuse_activations},
      {"fuse_vocabulary_loss", passes::fuse_vocabulary_loss},
      {"round_weights", [](graph::Graph& graph) { passes::round_weights(graph, DType::kBF16); }}};
}

// Backend::inference_passes().
inline std::vector<GraphPass> inference_passes(DType weights) {
  std::vector<GraphPass> passes{{"fuse_activations", passes::fuse_activations}};
  if (weights == DType::kF32) return passes;
  passes.push_back({"pack_weights", [weights](graph::Graph& graph) {
                      passes::pack_weights(
                          graph,
                          {.layout = kRowByRow, .dtype = weights, .is_of_activations = true});
                    }});
  passes.push_back({"use_compute_dtype",
                    [weights](graph::Graph& graph) { passes::use_compute_dtype(graph, weights); }});
  return passes;
}

// Backend::weight_layout(). A file without this fact is of another kind of device.
inline std::vector<LayoutFact> weight_layout() { return {{"row_by_row", true}}; }

}  // namespace cloze::backend::gpu
