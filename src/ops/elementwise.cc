#include "ops/elementwise.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

using graph::GradientRequest;
using graph::Graph;
using graph::Value;

std::vector<TensorType> infer_add(std::span<const TensorType> in, const std::any&) {
  expect_inputs("add", in, 2, 2);
  expect_type("add", "b", in[1], in[0]);
  return {in[0]};
}

std::vector<Value> differentiate_add(Graph&, const GradientRequest& request) {
  return {request.output_gradients[0], request.output_gradients[0]};
}

std::vector<TensorType> infer_accumulate(std::span<const TensorType> in, const std::any&) {
  expect_inputs("accumulate", in, 1, 1);
  return {in[0]};
}

}  // namespace

const graph::OpDefinition kAdd{
    .name = "add", .infer = infer_add, .differentiate = differentiate_add};
const graph::OpDefinition kAccumulate{
    .name = "accumulate", .infer = infer_accumulate, .accumulable_outputs = {0}};

}  // namespace cloze::ops
