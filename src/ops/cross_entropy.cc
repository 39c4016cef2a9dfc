#include "ops/cross_entropy.h"

#include "ops/loss_gradient.h"

namespace cloze::ops {
namespace {

// The inputs of the loss are those from `first` on.
void expect_inputs(const graph::OpDefinition& op, std::span<const TensorType> in, size_t first) {
  const Shape& logits = in[first + CrossEntropy::kLogits].shape;
  expect_type(op, in, first + CrossEntropy::kLabels, {DType::kI32, {logits[0]}});
  expect_type(op, in, first + CrossEntropy::kNormalizer, kScalar);
  const size_t weights = first + CrossEntropy::kClassWeights;
  if (in.size() > weights) expect_type(op, in, weights, {DType::kF32, {logits[1]}});
}

}  // namespace

const graph::OpDefinition kCrossEntropy{
    .name = "cross_entropy",
    .inputs = {"logits", "labels", "normalizer", "class_weights"},
    .optional_inputs = 1,
    .infer = infer_loss<kCrossEntropy, 2, expect_inputs>,
    .differentiate = differentiate_loss<kCrossEntropyGradient>,
    .accumulable_outputs = {CrossEntropy::kLoss, CrossEntropy::kCorrect}};
const graph::OpDefinition kCrossEntropyGradient{
    .name = "cross_entropy_gradient",
    .inputs = {"dloss", "logits", "labels", "normalizer", "class_weights"},
    .optional_inputs = 1,
    .infer = infer_loss_gradient<kCrossEntropyGradient, expect_inputs>};

LossOutputs cross_entropy(Graph& graph, Value logits, Value labels, Value normalizer,
                          const ClassTargets& targets) {
  CLOZE_CHECK(targets.label_smoothing >= 0.0 && targets.label_smoothing < 1.0,
              "label smoothing {} is not in [0, 1)", targets.label_smoothing);
  std::vector<Value> inputs{logits, labels, normalizer};
  if (targets.class_weights.valid()) inputs.push_back(targets.class_weights);
  const std::vector<Value> outputs =
      graph.add(kCrossEntropy, std::move(inputs), CrossEntropyAttributes{targets.label_smoothing});
  return {outputs[CrossEntropy::kLoss], outputs[CrossEntropy::kCorrect]};
}

}  // namespace cloze::ops
