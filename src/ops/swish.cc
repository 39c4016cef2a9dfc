#include "ops/swish.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  return {graph.add_one(kSwishGradient,
                        {request.output_gradients[Swish::kY], request.node.inputs[Swish::kX]})};
}

}  // namespace

const graph::OpDefinition kSwish{
    .name = "swish", .inputs = {"x"}, .infer = infer_as_first, .differentiate = differentiate};
const graph::OpDefinition kSwishGradient{
    .name = "swish_gradient", .inputs = {"dy", "x"}, .infer = infer_slope<kSwishGradient>};

Value swish(Graph& graph, Value x) { return graph.add_one(kSwish, {x}); }

}  // namespace cloze::ops
