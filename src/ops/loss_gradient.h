// Holds what losses share. The gradient operator of a loss takes dloss, then all inputs of the loss
// in the same order, and its attributes. Most compute the gradient of the first of these inputs only.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "ops/type_check.h"

namespace cloze::ops {

inline constexpr size_t kLossOutput = 0;  // of every loss

inline std::vector<Value> loss_gradient_inputs(const GradientRequest& request) {
  std::vector<Value> inputs{request.output_gradients[kLossOutput]};
  inputs.insert(inputs.end(), request.node.inputs.begin(), request.node.inputs.end());
  return inputs;
}

// Shape rule of a loss whose outputs are all [1]. `expect_inputs` checks the inputs of the loss;
// its last argument is the index of the first of them.
template <const graph::OpDefinition& op, size_t outputs, auto expect_inputs>
std::vector<TensorType> infer_loss(std::span<const TensorType> in, const std::any&) {
  expect_inputs(op, in, 0);
  return std::vector<TensorType>(outputs, kScalar);
}

// Shape rule of such a gradient operator.
template <const graph::OpDefinition& op, auto expect_inputs>
std::vector<TensorType> infer_loss_gradient(std::span<const TensorType> in, const std::any&) {
  expect_type(op, in, 0, kScalar);
  expect_inputs(op, in, 1);
  return {in[1]};
}

// The loss's gradient rule.
template <const graph::OpDefinition& gradient>
std::vector<Value> differentiate_loss(Graph& graph, const GradientRequest& request) {
  std::vector<Value> result(request.node.inputs.size());
  result[0] = graph.add_one(gradient, loss_gradient_inputs(request), request.node.attributes);
  return result;
}

}  // namespace cloze::ops
