#include "ops/gelu.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  return {graph.add_one(kGeluGradient, {request.output_gradients[0], request.node.inputs[Gelu::kX]},
                        request.node.attributes)};
}

}  // namespace

const graph::OpDefinition kGelu{
    .name = "gelu", .inputs = {"x"}, .infer = infer_as_first, .differentiate = differentiate};
const graph::OpDefinition kGeluGradient{
    .name = "gelu_gradient", .inputs = {"dy", "x"}, .infer = infer_slope<kGeluGradient>};

Value gelu(Graph& graph, Value x, GeluForm form) {
  return graph.add_one(kGelu, {x}, GeluAttributes{form});
}

}  // namespace cloze::ops
