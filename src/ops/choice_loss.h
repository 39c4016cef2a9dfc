// choice_loss: softmax cross-entropy over the choices of a question, each of which is a sequence.
//
//   loss = normalizer * sum_p CE(logits of the choices of p, labels[p])
//
// Question p has num_choices[p] sequences. They follow one another, and those of p + 1 follow them.
//
// Inputs:  logits [B, 1] f32 | bf16 | f16: one of each sequence;  num_choices [P] i32, their sum is
//          at most B;  labels [P] i32: the number of the right choice (-1: ignored);
//          normalizer [1] f32 (1 / questions of the whole step)
// Outputs: loss [1] f32;  correct [1] f32: how many questions have the label as (first) largest
//          logit
//
// choice_loss_gradient: dloss [1], logits, num_choices, labels, normalizer -> dlogits [B, 1] as
//   logits; 0 for sequences without a question
#pragma once

#include "graph/graph.h"
#include "ops/vocabulary_loss.h"

namespace cloze::ops {

struct ChoiceLoss {
  enum Input { kLogits, kNumChoices, kLabels, kNormalizer };
  enum Output { kLoss, kCorrect };
};
struct ChoiceLossGradient {
  enum Input { kDloss, kLogits, kNumChoices, kLabels, kNormalizer };
  enum Output { kDlogits };
};

extern const graph::OpDefinition kChoiceLoss;
extern const graph::OpDefinition kChoiceLossGradient;

struct ChoiceLossInputs {
  graph::Value logits, num_choices, labels, normalizer;
};
LossOutputs choice_loss(graph::Graph& graph, const ChoiceLossInputs& inputs);

}  // namespace cloze::ops
