#include "ops/tanh.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  return {graph.add_one(kTanhGradient,
                        {request.output_gradients[Tanh::kY], request.node.outputs[Tanh::kY]})};
}

}  // namespace

const graph::OpDefinition kTanh{
    .name = "tanh", .inputs = {"x"}, .infer = infer_as_first, .differentiate = differentiate};
const graph::OpDefinition kTanhGradient{
    .name = "tanh_gradient", .inputs = {"dy", "y"}, .infer = infer_slope<kTanhGradient>};

Value tanh(Graph& graph, Value x) { return graph.add_one(kTanh, {x}); }

}  // namespace cloze::ops
