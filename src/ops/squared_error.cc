#include "ops/squared_error.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

using graph::GradientRequest;
using graph::Graph;
using graph::Value;

// `in` from the predictions on. The targets are of the dtype of the normalizer, as are all scalars.
void expect_error_inputs(std::string_view op, std::span<const TensorType> in) {
  CLOZE_CHECK(in[0].shape.rank() == 2 && in[0].shape[1] == 1,
              "{}: predictions are {}, expected [B, 1]", op, in[0].to_string());
  expect_type(op, "targets", in[1], {DType::kF32, {in[0].shape[0]}});
  expect_type(op, "normalizer", in[2], kScalar);
}

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any&) {
  expect_inputs("squared_error", in, 3, 3);
  expect_error_inputs("squared_error", in);
  return {kScalar};
}

std::vector<TensorType> infer_gradient(std::span<const TensorType> in, const std::any&) {
  expect_inputs("squared_error_gradient", in, 4, 4);
  expect_type("squared_error_gradient", "dloss", in[0], kScalar);
  expect_error_inputs("squared_error_gradient", in.subspan(1));
  return {in[1]};
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  const std::vector<Value>& in = request.node.inputs;
  return {graph.add_one(kSquaredErrorGradient, {request.output_gradients[0], in[0], in[1], in[2]}),
          {},
          {}};
}

}  // namespace

const graph::OpDefinition kSquaredError{
    .name = "squared_error", .infer = infer, .differentiate = differentiate};
const graph::OpDefinition kSquaredErrorGradient{.name = "squared_error_gradient",
                                                .infer = infer_gradient};

Value squared_error(Graph& graph, Value predictions, Value targets, Value normalizer) {
  return graph.add_one(kSquaredError, {predictions, targets, normalizer});
}

}  // namespace cloze::ops
