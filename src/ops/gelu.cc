#include "ops/gelu.h"

#include "ops/type_check.h"

namespace cloze::ops {

const graph::OpDefinition kGelu{.name = "gelu",
                                .inputs = {"x"},
                                .infer = infer_as_first,
                                .differentiate = differentiate_by_input<kGeluGradient>};
const graph::OpDefinition kGeluGradient{
    .name = "gelu_gradient", .inputs = {"dy", "x"}, .infer = infer_slope<kGeluGradient>};

Value gelu(Graph& graph, Value x, GeluForm form) {
  return graph.add_one(kGelu, {x}, GeluAttributes{form});
}

}  // namespace cloze::ops
