#include "ops/binary_cross_entropy.h"

#include "ops/loss_gradient.h"

namespace cloze::ops {
namespace {

// The inputs of the loss are those from `first` on.
void expect_inputs(const graph::OpDefinition& op, std::span<const TensorType> in, size_t first) {
  const Shape& logits = in[first + BinaryCrossEntropy::kLogits].shape;
  const Shape& labels = in[first + BinaryCrossEntropy::kLabels].shape;
  CLOZE_CHECK(labels.rank() == 1 && labels[0] <= logits[0] * logits[1],
              "{}: labels are {}, expected at most one for each logit of {}", op.name,
              labels.to_string(), logits.to_string());
  expect_type(op, in, first + BinaryCrossEntropy::kLabels, {DType::kI32, labels});
  expect_type(op, in, first + BinaryCrossEntropy::kNormalizer, kScalar);
}

}  // namespace

const graph::OpDefinition kBinaryCrossEntropy{
    .name = "binary_cross_entropy",
    .inputs = {"logits", "labels", "normalizer"},
    .infer = infer_loss<kBinaryCrossEntropy, 2, expect_inputs>,
    .differentiate = differentiate_loss<kBinaryCrossEntropyGradient>};
const graph::OpDefinition kBinaryCrossEntropyGradient{
    .name = "binary_cross_entropy_gradient",
    .inputs = {"dloss", "logits", "labels", "normalizer"},
    .infer = infer_loss_gradient<kBinaryCrossEntropyGradient, expect_inputs>};

LossOutputs binary_cross_entropy(Graph& graph, Value logits, Value labels, Value normalizer) {
  const std::vector<Value> outputs = graph.add(kBinaryCrossEntropy, {logits, labels, normalizer});
  return {outputs[BinaryCrossEntropy::kLoss], outputs[BinaryCrossEntropy::kCorrect]};
}

}  // namespace cloze::ops
