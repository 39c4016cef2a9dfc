#include "ops/gelu.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

using graph::GradientRequest;
using graph::Graph;
using graph::Value;

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any&) {
  expect_inputs("gelu", in, 1, 1);
  return {in[0]};
}

std::vector<TensorType> infer_gradient(std::span<const TensorType> in, const std::any&) {
  expect_inputs("gelu_gradient", in, 2, 2);
  expect_type("gelu_gradient", "dy", in[0], in[1]);
  return {in[1]};
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  return {graph.add_one(kGeluGradient, {request.output_gradients[0], request.node.inputs[0]},
                        request.node.attributes)};
}

}  // namespace

const graph::OpDefinition kGelu{.name = "gelu", .infer = infer, .differentiate = differentiate};
const graph::OpDefinition kGeluGradient{.name = "gelu_gradient", .infer = infer_gradient};

Value gelu(Graph& graph, Value x, GeluForm form) {
  return graph.add_one(kGelu, {x}, GeluAttributes{form});
}

}  // namespace cloze::ops
