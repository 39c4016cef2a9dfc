// Rules that say which parameters an optimiser decays and adapts, and which count as one tensor.
//
//                                     decays                          adapts (LAMB's trust ratio)
//   matrices, embeddings              yes                             yes
//   LayerNorm's scale (gamma)         with decays_layer_norm_scale    with adapts_vectors
//   biases, LayerNorm's shift (beta)  no                              with adapts_vectors
//
// Other systems keep the projections to query, key and value as one tensor, whose trust ratio they
// share. Here they are three tensors, which share one with joins_qkv: their weights, and, when
// vectors adapt, their biases.
// Sources of the rules, system by system: docs/fidelity/options.md.
#pragma once

#include <string>

#include "graph/graph.h"

namespace cloze::optim {

struct OptimizerOptions;

bool decays(const graph::ValueInfo& parameter, const OptimizerOptions& options);
bool adapts(const graph::ValueInfo& parameter, const OptimizerOptions& options);

// The name of the tensor that this one is a part of where query, key and value are one:
// "...attention.self.qkv.weight"; empty: of none.
std::string joined_name(const graph::ValueInfo& parameter);

}  // namespace cloze::optim
