#include "ops/cross_entropy.h"

#include "ops/loss_gradient.h"

namespace cloze::ops {
namespace {

// The inputs of the loss are those from `first` on.
void expect_inputs(const graph::OpDefinition& op, std::span<const TensorType> in, size_t first) {
  const int64_t rows = in[first + CrossEntropy::kLogits].shape[0];
  expect_type(op, in, first + CrossEntropy::kLabels, {DType::kI32, {rows}});
  expect_type(op, in, first + CrossEntropy::kNormalizer, kScalar);
}

}  // namespace

const graph::OpDefinition kCrossEntropy{
    .name = "cross_entropy",
    .inputs = {"logits", "labels", "normalizer"},
    .infer = infer_loss<kCrossEntropy, 2, expect_inputs>,
    .differentiate = differentiate_loss<kCrossEntropyGradient>,
    .accumulable_outputs = {CrossEntropy::kLoss, CrossEntropy::kCorrect}};
const graph::OpDefinition kCrossEntropyGradient{
    .name = "cross_entropy_gradient",
    .inputs = {"dloss", "logits", "labels", "normalizer"},
    .infer = infer_loss_gradient<kCrossEntropyGradient, expect_inputs>};

LossOutputs cross_entropy(Graph& graph, Value logits, Value labels, Value normalizer) {
  const std::vector<Value> outputs = graph.add(kCrossEntropy, {logits, labels, normalizer});
  return {outputs[CrossEntropy::kLoss], outputs[CrossEntropy::kCorrect]};
}

}  // namespace cloze::ops
