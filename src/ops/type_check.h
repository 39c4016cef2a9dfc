// Holds what the rules of operators share. Shape rules guard our own graph building, so they throw
// InternalError; users' sizes are checked earlier (models/bert_config.cc).
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"

namespace cloze::ops {

using graph::GradientRequest;
using graph::Graph;
using graph::kScalar;
using graph::TensorType;
using graph::Value;

// Checks an input, by its number among those of the operator.
inline void expect_type(const graph::OpDefinition& op, std::span<const TensorType> in, size_t input,
                        const TensorType& expected) {
  CLOZE_CHECK(in[input] == expected, "{}: {} is {}, expected {}", op.name, op.input_name(input),
              in[input].to_string(), expected.to_string());
}

// Checks a weight (OpDefinition::weight_inputs) that activations of this dtype meet.
inline void expect_weight(const graph::OpDefinition& op, std::span<const TensorType> in,
                          size_t input, DType activations, Shape shape) {
  const bool is_rounded = in[input].dtype == activations;
  expect_type(op, in, input, {is_rounded ? activations : DType::kF32, std::move(shape)});
}

// A shape rule: the output is as the first input.
inline std::vector<TensorType> infer_as_first(std::span<const TensorType> in, const std::any&) {
  return {in[0]};
}

// A gradient rule: `gradient` of dy and x, for operators on x alone.
template <const graph::OpDefinition& gradient>
std::vector<Value> differentiate_by_input(Graph& graph, const GradientRequest& request) {
  return {graph.add_one(gradient, {request.output_gradients[0], request.node.inputs[0]},
                        request.node.attributes)};
}

// The shape rule of a gradient  dx = dy * slope : dy is as the second input, which gives the slope.
template <const graph::OpDefinition& op>
std::vector<TensorType> infer_slope(std::span<const TensorType> in, const std::any&) {
  expect_type(op, in, 0, in[1]);
  return {in[1]};
}

}  // namespace cloze::ops
