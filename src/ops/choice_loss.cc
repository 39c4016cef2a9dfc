#include "ops/choice_loss.h"

#include "ops/loss_gradient.h"

namespace cloze::ops {
namespace {

// The inputs of the loss are those from `first` on.
void expect_inputs(const graph::OpDefinition& op, std::span<const TensorType> in, size_t first) {
  const TensorType& logits = in[first + ChoiceLoss::kLogits];
  CLOZE_CHECK(logits.shape.rank() == 2 && logits.shape[1] == 1,
              "{}: logits are {}, expected [B, 1]", op.name, logits.to_string());
  const int64_t questions = in[first + ChoiceLoss::kLabels].shape[0];
  for (const ChoiceLoss::Input input : {ChoiceLoss::kNumChoices, ChoiceLoss::kLabels}) {
    expect_type(op, in, first + input, {DType::kI32, {questions}});
  }
  expect_type(op, in, first + ChoiceLoss::kNormalizer, kScalar);
}

}  // namespace

const graph::OpDefinition kChoiceLoss{.name = "choice_loss",
                                      .inputs = {"logits", "num_choices", "labels", "normalizer"},
                                      .infer = infer_loss<kChoiceLoss, 2, expect_inputs>,
                                      .differentiate = differentiate_loss<kChoiceLossGradient>};
const graph::OpDefinition kChoiceLossGradient{
    .name = "choice_loss_gradient",
    .inputs = {"dloss", "logits", "num_choices", "labels", "normalizer"},
    .infer = infer_loss_gradient<kChoiceLossGradient, expect_inputs>};

LossOutputs choice_loss(Graph& graph, const ChoiceLossInputs& in) {
  const std::vector<Value> outputs =
      graph.add(kChoiceLoss, {in.logits, in.num_choices, in.labels, in.normalizer});
  return {outputs[ChoiceLoss::kLoss], outputs[ChoiceLoss::kCorrect]};
}

}  // namespace cloze::ops
