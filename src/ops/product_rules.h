// Holds what linear, grouped_linear and grouped_convolution share. Their first inputs are x and a
// weight whose rows are outputs; their last input may be a bias. The first inputs of their gradient
// operators are dy and the weight, or dy and x. Every row of x is multiplied once by the whole
// weight.
#pragma once

#include <utility>
#include <vector>

#include "graph/graph.h"
#include "ops/type_check.h"

namespace cloze::ops {

// FLOPs of the product; the gradient of x takes as many.
inline double product_flops(std::span<const TensorType> in, const std::any&) {
  return 2.0 * static_cast<double>(in[1].shape.elements()) * static_cast<double>(in[0].shape[0]);
}

// FLOPs of the gradient of the weight, whose type is the first that `infer` returns.
template <auto infer>
double weight_gradient_flops(std::span<const TensorType> in, const std::any& attributes) {
  const Shape weight = infer(in, attributes)[0].shape;
  return 2.0 * static_cast<double>(weight.elements()) * static_cast<double>(in[0].shape[0]);
}

// The gradients of a weight of this shape and, where there is one, of its bias.
inline std::vector<TensorType> parameter_gradients(Shape weight, bool has_bias) {
  const int64_t outputs = weight[0];
  std::vector<TensorType> types{{DType::kF32, std::move(weight)}};
  if (has_bias) types.push_back({DType::kF32, {outputs}});
  return types;
}

inline bool has_bias(const graph::Node& product) {
  return product.inputs.size() == product.op->inputs.size();
}

struct ProductGradients {
  const graph::OpDefinition& of_input;
  std::any input_attributes;
  const graph::OpDefinition& of_weight;
  std::any weight_attributes;
};

// The gradient rule. Both gradient operators also read the inputs between weight and bias.
inline std::vector<Value> differentiate_product(Graph& graph, const GradientRequest& request,
                                                const ProductGradients& gradients) {
  const std::vector<Value>& in = request.node.inputs;
  const auto with_dy = [&](Value other) {
    std::vector<Value> inputs{request.output_gradients[0], other};
    inputs.insert(inputs.end(), in.begin() + 2, in.end() - (has_bias(request.node) ? 1 : 0));
    return inputs;
  };
  std::vector<Value> result(in.size());
  if (request.wanted[0]) {
    result[0] = graph.add_one(gradients.of_input, with_dy(in[1]), gradients.input_attributes);
  }
  const std::vector<Value> of_parameters =
      graph.add(gradients.of_weight, with_dy(in[0]), gradients.weight_attributes);
  result[1] = of_parameters[0];
  if (has_bias(request.node)) result.back() = of_parameters[1];
  return result;
}

}  // namespace cloze::ops
