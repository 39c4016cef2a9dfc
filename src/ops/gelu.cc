#include "ops/gelu.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

using graph::GradientRequest;
using graph::Graph;
using graph::Value;

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any&) {
  return {in[Gelu::kX]};
}

std::vector<TensorType> infer_gradient(std::span<const TensorType> in, const std::any&) {
  expect_type(kGeluGradient, in, GeluGradient::kDy, in[GeluGradient::kX]);
  return {in[GeluGradient::kX]};
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  return {graph.add_one(kGeluGradient, {request.output_gradients[0], request.node.inputs[Gelu::kX]},
                        request.node.attributes)};
}

}  // namespace

const graph::OpDefinition kGelu{
    .name = "gelu", .inputs = {"x"}, .infer = infer, .differentiate = differentiate};
const graph::OpDefinition kGeluGradient{
    .name = "gelu_gradient", .inputs = {"dy", "x"}, .infer = infer_gradient};

Value gelu(Graph& graph, Value x, GeluForm form) {
  return graph.add_one(kGelu, {x}, GeluAttributes{form});
}

}  // namespace cloze::ops
