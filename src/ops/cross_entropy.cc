#include "ops/cross_entropy.h"

#include "ops/loss_gradient.h"
#include "ops/type_check.h"

namespace cloze::ops {
namespace {

using graph::GradientRequest;
using graph::Graph;
using graph::Value;

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any&) {
  const int64_t rows = in[CrossEntropy::kLogits].shape[0];
  expect_type(kCrossEntropy, in, CrossEntropy::kLabels, {DType::kI32, {rows}});
  expect_type(kCrossEntropy, in, CrossEntropy::kNormalizer, kScalar);
  return {kScalar, kScalar};
}

std::vector<TensorType> infer_gradient(std::span<const TensorType> in, const std::any&) {
  expect_type(kCrossEntropyGradient, in, CrossEntropyGradient::kDloss, kScalar);
  return {in[CrossEntropyGradient::kLogits]};
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  return {graph.add_one(kCrossEntropyGradient, loss_gradient_inputs(request)), {}, {}};
}

}  // namespace

const graph::OpDefinition kCrossEntropy{.name = "cross_entropy",
                                        .inputs = {"logits", "labels", "normalizer"},
                                        .infer = infer,
                                        .differentiate = differentiate};
const graph::OpDefinition kCrossEntropyGradient{
    .name = "cross_entropy_gradient",
    .inputs = {"dloss", "logits", "labels", "normalizer"},
    .infer = infer_gradient};

LossOutputs cross_entropy(Graph& graph, Value logits, Value labels, Value normalizer) {
  const std::vector<Value> outputs = graph.add(kCrossEntropy, {logits, labels, normalizer});
  return {outputs[CrossEntropy::kLoss], outputs[CrossEntropy::kCorrect]};
}

}  // namespace cloze::ops
