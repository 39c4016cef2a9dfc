// cross_entropy: softmax cross-entropy over a few classes, whose weights may differ and whose labels
// may be smoothed.
//
//   loss = normalizer * sum_b sum_c t[b, c] (log sum_k exp(logits[b, k]) - logits[b, c])
//   t[b, c] = (1 - s) w[c] [c = labels[b]] + s / C w[c]
//
// s: label_smoothing, in [0, 1);  w: class_weights, or 1. With s = 0 and w = 1 the inner sum is
// CE(logits[b], labels[b]). As torch.nn.CrossEntropyLoss(weight, label_smoothing), whose mean has
// the normalizer 1 / sum_b w[labels[b]].
//
// Inputs:  logits [B, C] f32 | bf16 | f16;  labels [B] i32 (-1: ignored);  normalizer [1] f32;
//          class_weights [C] f32, not negative (optional)
// Outputs: loss [1] f32;  correct [1] f32: how many rows have the label as (first) largest logit
//
// cross_entropy_gradient: dloss [1], logits, labels, normalizer (, class_weights) -> dlogits [B, C]
//   dlogits[b, c] = dloss * normalizer * (softmax(logits[b])[c] sum_k t[b, k] - t[b, c]), as logits
#pragma once

#include "graph/graph.h"
#include "ops/vocabulary_loss.h"

namespace cloze::ops {

struct CrossEntropyAttributes {
  double label_smoothing = 0.0;
};

struct CrossEntropy {
  enum Input { kLogits, kLabels, kNormalizer, kClassWeights };
  enum Output { kLoss, kCorrect };
};
struct CrossEntropyGradient {
  enum Input { kDloss, kLogits, kLabels, kNormalizer, kClassWeights };
  enum Output { kDlogits };
};

extern const graph::OpDefinition kCrossEntropy;
extern const graph::OpDefinition kCrossEntropyGradient;

struct ClassTargets {
  double label_smoothing = 0.0;
  graph::Value class_weights = {};  // [C] f32, may be invalid
};
LossOutputs cross_entropy(graph::Graph& graph, graph::Value logits, graph::Value labels,
                          graph::Value normalizer, const ClassTargets& targets = {});

}  // namespace cloze::ops
