#include "ops/swish.h"

#include "ops/type_check.h"

namespace cloze::ops {

const graph::OpDefinition kSwish{.name = "swish",
                                 .inputs = {"x"},
                                 .infer = infer_as_first,
                                 .differentiate = differentiate_by_input<kSwishGradient>};
const graph::OpDefinition kSwishGradient{
    .name = "swish_gradient", .inputs = {"dy", "x"}, .infer = infer_slope<kSwishGradient>};

Value swish(Graph& graph, Value x) { return graph.add_one(kSwish, {x}); }

}  // namespace cloze::ops
