// Useful work of BERT pre-training, by the rule that published figures follow: multiply-add = 2,
// training = 3 x forward, no recomputation, real tokens only, MLM head on predicted tokens only.
//
//   per token       L (8 H^2 + 4 H F)       (24 H^2 L where F = 4 H)
//     of GroupBERT  L (8 H^2 + 2 (2 H F + 2 H F / G + 2 H^2) + 6 H^2 + 2 H C W); of one group the
//                   mixer's 2 H^2 is left out
//   attention       4 H L len^2 per sequence
//   per prediction  2 H V, and 2 H^2 with the MLM transform
#pragma once

#include "models/bert_config.h"

namespace cloze::models {

// The work of a step: sums over the sequences of a step.
struct BatchWork {
  double tokens = 0.0;
  double squared_lengths = 0.0;  // sum of len^2
  double predictions = 0.0;
};

double forward_flops(const BertConfig& config, const BatchWork& work);
// Counts only the forward pass of frozen layers, the lowest ones.
double training_flops(const BertConfig& config, const BatchWork& work, int64_t frozen_layers = 0);

}  // namespace cloze::models
