#include "ops/span_loss.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

using graph::GradientRequest;
using graph::Graph;
using graph::Value;

// `in` from the logits on.
void expect_span_inputs(std::string_view op, std::span<const TensorType> in) {
  CLOZE_CHECK(in[0].shape.rank() == 2 && in[0].shape[1] == 2, "{}: logits are {}, expected [T, 2]",
              op, in[0].to_string());
  const TensorType positions{DType::kI32, {in[1].shape[0] - 1}};
  expect_type(op, "start_positions", in[2], positions);
  expect_type(op, "end_positions", in[3], positions);
  expect_type(op, "normalizer", in[4], kScalar);
}

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any&) {
  expect_inputs("span_loss", in, 5, 5);
  expect_span_inputs("span_loss", in);
  return {kScalar, kScalar};
}

std::vector<TensorType> infer_gradient(std::span<const TensorType> in, const std::any&) {
  expect_inputs("span_loss_gradient", in, 6, 6);
  expect_type("span_loss_gradient", "dloss", in[0], kScalar);
  expect_span_inputs("span_loss_gradient", in.subspan(1));
  return {in[1]};
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  std::vector<Value> inputs{request.output_gradients[0]};
  inputs.insert(inputs.end(), request.node.inputs.begin(), request.node.inputs.end());
  return {graph.add_one(kSpanLossGradient, inputs), {}, {}, {}, {}};
}

}  // namespace

const graph::OpDefinition kSpanLoss{
    .name = "span_loss", .infer = infer, .differentiate = differentiate};
const graph::OpDefinition kSpanLossGradient{.name = "span_loss_gradient", .infer = infer_gradient};

LossOutputs span_loss(Graph& graph, const SpanLossInputs& in) {
  const std::vector<Value> outputs = graph.add(
      kSpanLoss,
      {in.logits, in.sequence_starts, in.start_positions, in.end_positions, in.normalizer});
  return {outputs[0], outputs[1]};
}

}  // namespace cloze::ops
