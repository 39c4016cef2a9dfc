#include "ops/squared_error.h"

#include "ops/loss_gradient.h"

namespace cloze::ops {
namespace {

// The inputs of the loss are those from `first` on.
void expect_error_inputs(const graph::OpDefinition& op, std::span<const TensorType> in,
                         size_t first) {
  const TensorType& predictions = in[first + SquaredError::kPredictions];
  CLOZE_CHECK(predictions.shape.rank() == 2 && predictions.shape[1] == 1,
              "{}: predictions are {}, expected [B, 1]", op.name, predictions.to_string());
  expect_type(op, in, first + SquaredError::kTargets, {DType::kF32, {predictions.shape[0]}});
  expect_type(op, in, first + SquaredError::kNormalizer, kScalar);
}

}  // namespace

const graph::OpDefinition kSquaredError{.name = "squared_error",
                                        .inputs = {"predictions", "targets", "normalizer"},
                                        .infer = infer_loss<kSquaredError, 1, expect_error_inputs>,
                                        .differentiate = differentiate_loss<kSquaredErrorGradient>};
const graph::OpDefinition kSquaredErrorGradient{
    .name = "squared_error_gradient",
    .inputs = {"dloss", "predictions", "targets", "normalizer"},
    .infer = infer_loss_gradient<kSquaredErrorGradient, expect_error_inputs>};

Value squared_error(Graph& graph, Value predictions, Value targets, Value normalizer) {
  return graph.add_one(kSquaredError, {predictions, targets, normalizer});
}

}  // namespace cloze::ops
