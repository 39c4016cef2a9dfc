// The optimiser as graph: clips and applies the accumulated gradients in the update phase.
//
//   norm = global_norm(gradients);  scale = gradient_scale(norm, losses)
//   for each parameter: lamb | adamw (parameter, m, v, gradient, scale, learning_rate,
//   update_index, check)
//
// A step whose norm or losses are not finite updates nothing.
// Adds the inputs learning_rate [1] f32 and update_index [1] i32 (1 for the first update), the
// state variables optimizer.m.<parameter> and optimizer.v.<parameter>, and the metrics
// gradient_norm [1] and update_check [1]: NaN when the update wrote what is not finite. Defaults
// are those of graphcore/examples nlp/bert/tensorflow1/options.py.
#pragma once

#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace cloze::optim {

enum class OptimizerKind { kLamb, kAdamW };

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::kLamb;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  double weight_decay_rate = 0.0;
  bool use_debiasing = false;  // bias correction of the moments
  double max_gradient_norm =
      0;  // clip the global norm here; 0: no clipping. NVLAMB is 1 with LAMB.
};

// Biases and LayerNorm parameters take no weight decay, and LAMB no trust ratio.
// Source: the exclusion rule of google-research/bert and of NVIDIA's and Habana's LAMB.
bool is_excluded_from_decay(std::string_view parameter_name);

// Run after differentiate(): every parameter that has a gradient is updated. `losses`: variables
// [1] f32 that hold the step's losses when the update runs.
void add_optimizer(graph::Graph& graph, const OptimizerOptions& options,
                   const std::vector<graph::Value>& losses);

}  // namespace cloze::optim
