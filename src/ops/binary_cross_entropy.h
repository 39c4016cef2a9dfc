// binary_cross_entropy: the loss of a model that says yes or no to each of several labels.
//
//   loss = normalizer * sum_p softplus(x_p) - labels[p] x_p        softplus(x) = log(1 + exp(x))
//
// x_p is logit number p, counted row by row; p goes over the labels. Logits past the last label have
// none, so that a program for few sequences may have places for more.
//
// Inputs:  logits [B, C] f32 | bf16 | f16;  labels [P] i32, P <= B C: 1 yes, 0 no, -1 ignored;
//          normalizer [1] f32 (1 / labels of the whole step)
// Outputs: loss [1] f32;  correct [1] f32: how many labels are 1 with a logit above 0, or 0 with
//          another
//
// binary_cross_entropy_gradient: dloss [1], logits, labels, normalizer -> dlogits [B, C] as logits:
//   dloss normalizer (1 / (1 + exp(-x_p)) - labels[p]), and 0 where there is no label
#pragma once

#include "graph/graph.h"
#include "ops/vocabulary_loss.h"

namespace cloze::ops {

struct BinaryCrossEntropy {
  enum Input { kLogits, kLabels, kNormalizer };
  enum Output { kLoss, kCorrect };
};
struct BinaryCrossEntropyGradient {
  enum Input { kDloss, kLogits, kLabels, kNormalizer };
  enum Output { kDlogits };
};

extern const graph::OpDefinition kBinaryCrossEntropy;
extern const graph::OpDefinition kBinaryCrossEntropyGradient;

LossOutputs binary_cross_entropy(graph::Graph& graph, graph::Value logits, graph::Value labels,
                                 graph::Value normalizer);

}  // namespace cloze::ops
