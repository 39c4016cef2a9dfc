#include "ops/span_loss.h"

#include "ops/loss_gradient.h"

namespace cloze::ops {
namespace {

// The inputs of the loss are those from `first` on.
void expect_span_inputs(const graph::OpDefinition& op, std::span<const TensorType> in,
                        size_t first) {
  const TensorType& logits = in[first + SpanLoss::kLogits];
  CLOZE_CHECK(logits.shape.rank() == 2 && logits.shape[1] == 2,
              "{}: logits are {}, expected [T, 2]", op.name, logits.to_string());
  const int64_t sequences = in[first + SpanLoss::kSequenceStarts].shape[0] - 1;
  expect_type(op, in, first + SpanLoss::kStartPositions, {DType::kI32, {sequences}});
  expect_type(op, in, first + SpanLoss::kEndPositions, {DType::kI32, {sequences}});
  expect_type(op, in, first + SpanLoss::kNormalizer, kScalar);
}

}  // namespace

const graph::OpDefinition kSpanLoss{
    .name = "span_loss",
    .inputs = {"logits", "sequence_starts", "start_positions", "end_positions", "normalizer"},
    .infer = infer_loss<kSpanLoss, 2, expect_span_inputs>,
    .differentiate = differentiate_loss<kSpanLossGradient>};
const graph::OpDefinition kSpanLossGradient{
    .name = "span_loss_gradient",
    .inputs = {"dloss", "logits", "sequence_starts", "start_positions", "end_positions",
               "normalizer"},
    .infer = infer_loss_gradient<kSpanLossGradient, expect_span_inputs>};

LossOutputs span_loss(Graph& graph, const SpanLossInputs& in) {
  const std::vector<Value> outputs = graph.add(
      kSpanLoss,
      {in.logits, in.sequence_starts, in.start_positions, in.end_positions, in.normalizer});
  return {outputs[SpanLoss::kLoss], outputs[SpanLoss::kCorrect]};
}

}  // namespace cloze::ops
