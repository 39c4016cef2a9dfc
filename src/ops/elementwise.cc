#include "ops/elementwise.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

using graph::GradientRequest;
using graph::Graph;
using graph::Value;

std::vector<TensorType> infer_add(std::span<const TensorType> in, const std::any&) {
  expect_type(kAdd, in, Add::kB, in[Add::kA]);
  return {in[Add::kA]};
}

std::vector<Value> differentiate_add(Graph&, const GradientRequest& request) {
  return {request.output_gradients[0], request.output_gradients[0]};
}

std::vector<TensorType> infer_accumulate(std::span<const TensorType> in, const std::any&) {
  return {in[Accumulate::kX]};
}

}  // namespace

const graph::OpDefinition kAdd{
    .name = "add", .inputs = {"a", "b"}, .infer = infer_add, .differentiate = differentiate_add};
const graph::OpDefinition kAccumulate{.name = "accumulate",
                                      .inputs = {"x"},
                                      .infer = infer_accumulate,
                                      .accumulable_outputs = {Accumulate::kY}};

}  // namespace cloze::ops
