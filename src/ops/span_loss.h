// span_loss: softmax cross-entropy of where a span begins and ends, over the tokens of each
// sequence.
//
//   loss = normalizer / 2 * sum_b (CE(logits[tokens of b, 0], start)
//                                  + CE(logits[tokens of b, 1], end))
//
// Inputs:  logits [T, 2] f32 | bf16 | f16;  sequence_starts [B+1] i32;
//          start_positions, end_positions [B] i32: slots in [0, T) inside the sequence; a sequence
//          with either of them -1 is ignored, with both its sides;
//          normalizer [1] f32 (1 / sequences of the whole step)
// Outputs: loss [1] f32;  correct [1] f32: sequences with both positions the (first) largest logit
// Source: transformers' BertForQuestionAnswering, google-research/bert run_squad.py; there the
// softmax runs over padding as well, which does not exist here.
//
// span_loss_gradient: dloss [1], logits, sequence_starts, start_positions, end_positions,
// normalizer -> dlogits [T, 2] as logits, 0 outside the sequences and for ignored ones
#pragma once

#include "graph/graph.h"
#include "ops/vocabulary_loss.h"

namespace cloze::ops {

struct SpanLoss {
  enum Input { kLogits, kSequenceStarts, kStartPositions, kEndPositions, kNormalizer };
  enum Output { kLoss, kCorrect };
};
struct SpanLossGradient {
  enum Input { kDloss, kLogits, kSequenceStarts, kStartPositions, kEndPositions, kNormalizer };
  enum Output { kDlogits };
};

extern const graph::OpDefinition kSpanLoss;
extern const graph::OpDefinition kSpanLossGradient;

struct SpanLossInputs {
  graph::Value logits;           // [T, 2]
  graph::Value sequence_starts;  // [B+1]
  graph::Value start_positions;  // [B]
  graph::Value end_positions;    // [B]
  graph::Value normalizer;       // [1]
};
LossOutputs span_loss(graph::Graph& graph, const SpanLossInputs& in);

}  // namespace cloze::ops
