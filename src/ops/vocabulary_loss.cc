#include "ops/vocabulary_loss.h"

#include "ops/loss_gradient.h"

namespace cloze::ops {
namespace {

using Loss = VocabularyLoss;
using Gradient = VocabularyLossGradient;

// The inputs of the loss are those from `first` on.
void expect_loss_inputs(const graph::OpDefinition& op, std::span<const TensorType> in,
                        size_t first) {
  const Shape& x = in[first + Loss::kX].shape;
  const int64_t vocabulary = in[first + Loss::kTable].shape[0];
  expect_weight(op, in, first + Loss::kTable, in[first + Loss::kX].dtype, {vocabulary, x[1]});
  expect_type(op, in, first + Loss::kLabels, {DType::kI32, {x[0]}});
  const bool is_of_each = in[first + Loss::kNormalizer].shape != kScalar.shape;
  expect_type(op, in, first + Loss::kNormalizer,
              is_of_each ? TensorType{DType::kF32, {x[0]}} : kScalar);
  const size_t bias = first + Loss::kBias;
  if (in.size() > bias) expect_type(op, in, bias, {DType::kF32, {vocabulary}});
}

std::vector<TensorType> infer_gradient(std::span<const TensorType> in, const std::any&) {
  expect_type(kVocabularyLossGradient, in, Gradient::kDloss, kScalar);
  expect_loss_inputs(kVocabularyLossGradient, in, Gradient::kX);
  std::vector<TensorType> types{in[Gradient::kX], {DType::kF32, in[Gradient::kTable].shape}};
  if (in.size() > Gradient::kBias) types.push_back(in[Gradient::kBias]);
  return types;
}

std::vector<TensorType> infer_with_gradient(std::span<const TensorType> in,
                                            const std::any& attributes) {
  std::vector<TensorType> types{kScalar, kScalar};
  for (TensorType& type : infer_gradient(in, attributes)) types.push_back(std::move(type));
  return types;
}

// Counts useful work only: recomputing the logits for a gradient does not count.
template <int products, size_t first>
double flops(std::span<const TensorType> in, const std::any&) {
  return 2.0 * products * static_cast<double>(in[first + Loss::kX].shape.elements()) *
         static_cast<double>(in[first + Loss::kTable].shape[0]);
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  const auto gradients = graph.add(kVocabularyLossGradient, loss_gradient_inputs(request));
  std::vector<Value> result(request.node.inputs.size());
  result[Loss::kX] = gradients[Gradient::kDx];
  result[Loss::kTable] = gradients[Gradient::kDtable];
  if (result.size() > Loss::kBias) result[Loss::kBias] = gradients[Gradient::kDbias];
  return result;
}

}  // namespace

const graph::OpDefinition kVocabularyLoss{
    .name = "vocabulary_loss",
    .inputs = {"x", "table", "labels", "normalizer", "bias"},
    .optional_inputs = 1,
    .weight_inputs = {VocabularyLoss::kTable},
    .infer = infer_loss<kVocabularyLoss, 2, expect_loss_inputs>,
    .differentiate = differentiate,
    .flops = flops<1, 0>};
const graph::OpDefinition kVocabularyLossGradient{
    .name = "vocabulary_loss_gradient",
    .inputs = {"dloss", "x", "table", "labels", "normalizer", "bias"},
    .optional_inputs = 1,
    .weight_inputs = {VocabularyLossGradient::kTable},
    .infer = infer_gradient,
    .flops = flops<2, Gradient::kX>,
    .accumulable_outputs = {Gradient::kDtable, Gradient::kDbias}};
const graph::OpDefinition kVocabularyLossWithGradient{
    .name = "vocabulary_loss_with_gradient",
    .inputs = {"dloss", "x", "table", "labels", "normalizer", "bias"},
    .optional_inputs = 1,
    .weight_inputs = {VocabularyLossWithGradient::kTable},
    .infer = infer_with_gradient,
    .flops = flops<3, Gradient::kX>,
    .accumulable_outputs = {VocabularyLossWithGradient::kLoss, VocabularyLossWithGradient::kCorrect,
                            VocabularyLossWithGradient::kDtable,
                            VocabularyLossWithGradient::kDbias}};

LossOutputs vocabulary_loss(Graph& graph, const VocabularyLossInputs& in) {
  std::vector<Value> inputs{in.x, in.table, in.labels, in.normalizer};
  if (in.bias.valid()) inputs.push_back(in.bias);
  const std::vector<Value> outputs = graph.add(kVocabularyLoss, std::move(inputs));
  return {outputs[Loss::kLoss], outputs[Loss::kCorrect]};
}

}  // namespace cloze::ops
