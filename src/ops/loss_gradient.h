// The gradient operators of losses take dloss and then all inputs of the loss, in its order.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace cloze::ops {

inline constexpr size_t kLossOutput = 0;  // of every loss

inline std::vector<graph::Value> loss_gradient_inputs(const graph::GradientRequest& request) {
  std::vector<graph::Value> inputs{request.output_gradients[kLossOutput]};
  inputs.insert(inputs.end(), request.node.inputs.begin(), request.node.inputs.end());
  return inputs;
}

}  // namespace cloze::ops
