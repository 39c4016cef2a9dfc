// squared_error: the loss of a model that predicts one number for a sequence.
//
//   loss = normalizer * sum_b (predictions[b] - targets[b])^2
//
// Inputs:  predictions [B, 1] f32 | bf16 | f16;  targets [B] f32 (not a number: ignored);
//          normalizer [1] f32 (1 / sequences of the whole step)
// Outputs: loss [1] f32
//
// squared_error_gradient: dloss [1], predictions, targets, normalizer -> dpredictions [B, 1]
#pragma once

#include "graph/graph.h"

namespace cloze::ops {

struct SquaredError {
  enum Input { kPredictions, kTargets, kNormalizer };
  enum Output { kLoss };
};
struct SquaredErrorGradient {
  enum Input { kDloss, kPredictions, kTargets, kNormalizer };
  enum Output { kDpredictions };
};

extern const graph::OpDefinition kSquaredError;
extern const graph::OpDefinition kSquaredErrorGradient;

graph::Value squared_error(graph::Graph& graph, graph::Value predictions, graph::Value targets,
                           graph::Value normalizer);

}  // namespace cloze::ops
