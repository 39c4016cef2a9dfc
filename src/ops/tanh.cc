#include "ops/tanh.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

using graph::GradientRequest;
using graph::Graph;
using graph::Value;

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any&) {
  expect_inputs("tanh", in, 1, 1);
  return {in[0]};
}

std::vector<TensorType> infer_gradient(std::span<const TensorType> in, const std::any&) {
  expect_inputs("tanh_gradient", in, 2, 2);
  expect_type("tanh_gradient", "dy", in[0], in[1]);
  return {in[1]};
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  return {graph.add_one(kTanhGradient, {request.output_gradients[0], request.node.outputs[0]})};
}

}  // namespace

const graph::OpDefinition kTanh{.name = "tanh", .infer = infer, .differentiate = differentiate};
const graph::OpDefinition kTanhGradient{.name = "tanh_gradient", .infer = infer_gradient};

Value tanh(Graph& graph, Value x) { return graph.add_one(kTanh, {x}); }

}  // namespace cloze::ops
