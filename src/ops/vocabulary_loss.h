// vocabulary_loss: projection on the vocabulary and softmax cross-entropy, computed in blocks of
// rows so that the full [P, V] logits never exist.
//
//   logits[p] = x[p] table^T + bias       loss = sum_p normalizer[p] * CE(logits[p], labels[p])
//
// Inputs:  x [P, H] f32 | bf16 | f16;
//          table [V, H] f32, counts as rounded to the dtype of x, as the weight of linear does;
//          labels [P] i32 (-1: ignored);
//          normalizer [1] f32, one for all (1 / predictions of the whole step), or [P], one for
//          each;  bias [V] f32 (optional)
// Outputs: loss [1] f32;  correct [1] f32: how many rows have the label as (first) largest logit
//
// vocabulary_loss_gradient
// Inputs:  dloss [1] f32, x, table, labels, normalizer (, bias)
// Outputs: dx [P, H] as x;  dtable [V, H] f32 (; dbias [V] f32)
//   dlogits[p] = dloss * normalizer[p] * (softmax(logits[p]) - onehot(labels[p])),
//   0 for ignored rows; with bf16 a kernel may round dlogits before multiplying them by x and table
//
// vocabulary_loss_with_gradient does both on one set of logits; the fuse pass replaces the pair
// with it. Inputs as vocabulary_loss_gradient; outputs loss, correct, then those of the gradient.
#pragma once

#include "graph/graph.h"

namespace cloze::ops {

struct VocabularyLoss {
  enum Input { kX, kTable, kLabels, kNormalizer, kBias };
  enum Output { kLoss, kCorrect };
};
struct VocabularyLossGradient {
  enum Input { kDloss, kX, kTable, kLabels, kNormalizer, kBias };
  enum Output { kDx, kDtable, kDbias };
};
struct VocabularyLossWithGradient {
  enum Input { kDloss, kX, kTable, kLabels, kNormalizer, kBias };
  enum Output { kLoss, kCorrect, kDx, kDtable, kDbias };
};

extern const graph::OpDefinition kVocabularyLoss;
extern const graph::OpDefinition kVocabularyLossGradient;
extern const graph::OpDefinition kVocabularyLossWithGradient;

struct VocabularyLossInputs {
  graph::Value x;           // [P, H]
  graph::Value table;       // [V, H]
  graph::Value labels;      // [P] i32
  graph::Value normalizer;  // [1] or [P]
  graph::Value bias;        // [V], may be invalid
};

struct LossOutputs {
  graph::Value loss;     // [1] f32
  graph::Value correct;  // [1] f32
};
LossOutputs vocabulary_loss(graph::Graph& graph, const VocabularyLossInputs& in);

}  // namespace cloze::ops
