// OpDefinition: what an operator means, apart from how a device computes it (backend/): its shape
// rule, its gradient rule (which operators to append; no arithmetic) and its cost.
// The definitions live in ops/, one file per operator; a Node points at one of them.
#pragma once

#include <algorithm>
#include <any>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "graph/tensor_type.h"
#include "graph/value.h"

namespace cloze::graph {

class Graph;
struct Node;

// The input of a gradient rule: the node to differentiate and the gradients of its outputs.
struct GradientRequest {
  const Node& node;
  std::span<const Value> output_gradients;  // invalid where nothing flows back
  // True where the gradient of an input is wanted; a rule may skip the others.
  std::vector<bool> wanted;
};

struct OpDefinition {
  std::string_view name;  // also the name of its files, bench and profiler row

  // The names of the inputs, in the order that nodes, kernels and `infer` use; the operator's
  // header has the same order as an enum.
  std::vector<std::string_view> inputs;
  int optional_inputs = 0;  // how many of the last may be left out
  bool repeats_last_input = false;
  // Inputs that are parameter matrices: f32, which the operator computes with rounded to the dtype
  // of its activations, or copies that were rounded to it before (passes/pack_weights.h).
  std::vector<int> weight_inputs = {};

  // Output types from as many input types as there may be (infer_types). Throws InternalError
  // naming the input that does not fit.
  std::vector<TensorType> (*infer)(std::span<const TensorType> inputs, const std::any& attributes);

  // Appends the gradient operators and returns one gradient per input (invalid = none).
  // Null: the operator cannot be differentiated.
  std::vector<Value> (*differentiate)(Graph& graph, const GradientRequest& request) = nullptr;

  // Useful floating-point operations of one call, multiply-add = 2; null counts as 0.
  double (*flops)(std::span<const TensorType> inputs, const std::any& attributes) = nullptr;

  // Inputs that the operator updates in place; they are variables.
  std::vector<int> mutated_inputs = {};
  // Outputs that may be added to a variable instead of written (parameter gradients).
  std::vector<int> accumulable_outputs = {};

  std::string_view input_name(size_t input) const {
    return inputs[std::min(input, inputs.size() - 1)];
  }
};

// Throws InternalError when there are too few inputs, or too many, or one does not fit.
std::vector<TensorType> infer_types(const OpDefinition& op, std::span<const TensorType> inputs,
                                    const std::any& attributes);

}  // namespace cloze::graph
