#include "ops/vocabulary_loss.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

using graph::GradientRequest;
using graph::Graph;
using graph::Value;

void expect_loss_inputs(std::string_view op, std::span<const TensorType> in) {
  expect_type(op, "table", in[1], {DType::kF32, {in[1].shape[0], in[0].shape[1]}});
  expect_type(op, "labels", in[2], {DType::kI32, {in[0].shape[0]}});
  expect_type(op, "normalizer", in[3], kScalar);
  if (in.size() == 5) expect_type(op, "bias", in[4], {DType::kF32, {in[1].shape[0]}});
}

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any&) {
  expect_inputs("vocabulary_loss", in, 4, 5);
  expect_loss_inputs("vocabulary_loss", in);
  return {kScalar, kScalar};
}

std::vector<TensorType> infer_gradient(std::span<const TensorType> in, const std::any&) {
  expect_inputs("vocabulary_loss_gradient", in, 5, 6);
  expect_type("vocabulary_loss_gradient", "dloss", in[0], kScalar);
  expect_loss_inputs("vocabulary_loss_gradient", in.subspan(1));
  std::vector<TensorType> types{in[1], {DType::kF32, in[2].shape}};
  if (in.size() == 6) types.push_back(in[5]);
  return types;
}

std::vector<TensorType> infer_with_gradient(std::span<const TensorType> in,
                                            const std::any& attributes) {
  std::vector<TensorType> types{kScalar, kScalar};
  for (TensorType& type : infer_gradient(in, attributes)) types.push_back(std::move(type));
  return types;
}

double product_flops(const TensorType& x, const TensorType& table) {
  return 2.0 * static_cast<double>(x.shape.elements()) * static_cast<double>(table.shape[0]);
}

double flops(std::span<const TensorType> in, const std::any&) {
  return product_flops(in[0], in[1]);
}

// Useful work only: that the logits are computed again does not count.
double gradient_flops(std::span<const TensorType> in, const std::any&) {
  return 2.0 * product_flops(in[1], in[2]);
}

double with_gradient_flops(std::span<const TensorType> in, const std::any&) {
  return 3.0 * product_flops(in[1], in[2]);
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  std::vector<Value> inputs{request.output_gradients[0]};
  inputs.insert(inputs.end(), request.node.inputs.begin(), request.node.inputs.end());
  const std::vector<Value> gradients = graph.add(kVocabularyLossGradient, inputs);
  std::vector<Value> result{gradients[0], gradients[1], {}, {}};
  if (request.node.inputs.size() == 5) result.push_back(gradients[2]);
  return result;
}

}  // namespace

const graph::OpDefinition kVocabularyLoss{
    .name = "vocabulary_loss", .infer = infer, .differentiate = differentiate, .flops = flops};
const graph::OpDefinition kVocabularyLossGradient{.name = "vocabulary_loss_gradient",
                                                  .infer = infer_gradient,
                                                  .flops = gradient_flops,
                                                  .accumulable_outputs = {1, 2}};
const graph::OpDefinition kVocabularyLossWithGradient{.name = "vocabulary_loss_with_gradient",
                                                      .infer = infer_with_gradient,
                                                      .flops = with_gradient_flops,
                                                      .accumulable_outputs = {0, 1, 3, 4}};

LossOutputs vocabulary_loss(Graph& graph, const VocabularyLossInputs& in) {
  std::vector<Value> inputs{in.x, in.table, in.labels, in.normalizer};
  if (in.bias.valid()) inputs.push_back(in.bias);
  const std::vector<Value> outputs = graph.add(kVocabularyLoss, std::move(inputs));
  return {outputs[0], outputs[1]};
}

}  // namespace cloze::ops
