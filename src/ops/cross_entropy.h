// cross_entropy: softmax cross-entropy over a few classes (the next-sentence head).
//
//   loss = normalizer * sum_b CE(logits[b], labels[b])
//
// Inputs:  logits [B, C] f32 | bf16 | f16;  labels [B] i32 (-1: ignored);  normalizer [1] f32
// Outputs: loss [1] f32;  correct [1] f32: how many rows have the label as (first) largest logit
//
// cross_entropy_gradient: dloss [1], logits, labels, normalizer -> dlogits [B, C] as logits
#pragma once

#include "graph/graph.h"
#include "ops/vocabulary_loss.h"

namespace cloze::ops {

struct CrossEntropy {
  enum Input { kLogits, kLabels, kNormalizer };
  enum Output { kLoss, kCorrect };
};
struct CrossEntropyGradient {
  enum Input { kDloss, kLogits, kLabels, kNormalizer };
  enum Output { kDlogits };
};

extern const graph::OpDefinition kCrossEntropy;
extern const graph::OpDefinition kCrossEntropyGradient;

LossOutputs cross_entropy(graph::Graph& graph, graph::Value logits, graph::Value labels,
                          graph::Value normalizer);

}  // namespace cloze::ops
