#include "ops/cross_entropy.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

using graph::GradientRequest;
using graph::Graph;
using graph::Value;

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any&) {
  expect_inputs("cross_entropy", in, 3, 3);
  expect_type("cross_entropy", "labels", in[1], {DType::kI32, {in[0].shape[0]}});
  expect_type("cross_entropy", "normalizer", in[2], kScalar);
  return {kScalar, kScalar};
}

std::vector<TensorType> infer_gradient(std::span<const TensorType> in, const std::any&) {
  expect_inputs("cross_entropy_gradient", in, 4, 4);
  expect_type("cross_entropy_gradient", "dloss", in[0], kScalar);
  return {in[1]};
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  const std::vector<Value>& in = request.node.inputs;
  return {graph.add_one(kCrossEntropyGradient, {request.output_gradients[0], in[0], in[1], in[2]}),
          {},
          {}};
}

}  // namespace

const graph::OpDefinition kCrossEntropy{
    .name = "cross_entropy", .infer = infer, .differentiate = differentiate};
const graph::OpDefinition kCrossEntropyGradient{.name = "cross_entropy_gradient",
                                                .infer = infer_gradient};

LossOutputs cross_entropy(Graph& graph, Value logits, Value labels, Value normalizer) {
  const std::vector<Value> outputs = graph.add(kCrossEntropy, {logits, labels, normalizer});
  return {outputs[0], outputs[1]};
}

}  // namespace cloze::ops
