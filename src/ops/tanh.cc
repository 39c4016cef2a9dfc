#include "ops/tanh.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

using graph::GradientRequest;
using graph::Graph;
using graph::Value;

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any&) {
  return {in[Tanh::kX]};
}

std::vector<TensorType> infer_gradient(std::span<const TensorType> in, const std::any&) {
  expect_type(kTanhGradient, in, TanhGradient::kDy, in[TanhGradient::kY]);
  return {in[TanhGradient::kY]};
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  return {graph.add_one(kTanhGradient,
                        {request.output_gradients[Tanh::kY], request.node.outputs[Tanh::kY]})};
}

}  // namespace

const graph::OpDefinition kTanh{
    .name = "tanh", .inputs = {"x"}, .infer = infer, .differentiate = differentiate};
const graph::OpDefinition kTanhGradient{
    .name = "tanh_gradient", .inputs = {"dy", "y"}, .infer = infer_gradient};

Value tanh(Graph& graph, Value x) { return graph.add_one(kTanh, {x}); }

}  // namespace cloze::ops
