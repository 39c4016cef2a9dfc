// The CPU's layouts of weights that never change, and its passes over a graph that infers.
#pragma once

#include "backend/kernel.h"
#include "passes/pack_weights.h"

namespace cloze::backend::cpu {

// In panels, as our own products read them. bf16 weights in pairs, with activations in bf16, where
// the processor multiplies bf16 itself: that is faster there.
passes::WeightPacking weight_packing(DType weights);

std::vector<GraphPass> packing_passes(const passes::WeightPacking& packing);

// Backend::weight_layout() and refuse_layout().
std::vector<LayoutFact> weight_layout(DType weights);
std::optional<std::string> refuse_layout(DType weights, std::span<const LayoutFact> there);

}  // namespace cloze::backend::cpu
