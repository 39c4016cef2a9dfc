#include "ops/elementwise.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

std::vector<TensorType> infer_add(std::span<const TensorType> in, const std::any&) {
  expect_type(kAdd, in, Add::kB, in[Add::kA]);
  return {in[Add::kA]};
}

std::vector<Value> differentiate_add(Graph&, const GradientRequest& request) {
  return {request.output_gradients[0], request.output_gradients[0]};
}

}  // namespace

const graph::OpDefinition kAdd{
    .name = "add", .inputs = {"a", "b"}, .infer = infer_add, .differentiate = differentiate_add};
const graph::OpDefinition kAccumulate{.name = "accumulate",
                                      .inputs = {"x"},
                                      .infer = infer_as_first,
                                      .accumulable_outputs = {Accumulate::kY}};

}  // namespace cloze::ops
