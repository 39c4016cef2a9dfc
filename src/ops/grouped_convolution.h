// grouped_convolution: a convolution over the tokens of each sequence, in groups of channels. It
// never reads across the border of a sequence: outside it counts as zero.
//
//   y[t, c] = sum_i sum_j x[t + j - (W - 1)/2, C floor(c / C) + i] weight[c, i, j] + bias[c]
//             over i < C, j < W with t + j - (W - 1)/2 in the sequence of t
//
// Inputs:  x [T, H] f32 | bf16 | f16;  weight [H, C, W] f32 (torch.nn.Conv1d, C channels of a
//          group, W odd);  sequence_starts [B+1] i32, ascending (empty sequences allowed);
//          bias [H] f32 (optional)
// Outputs: y [T, H] as x, 0 after the last sequence
// C divides H. The weight counts as rounded to the dtype of x; products are summed in f32.
//
// grouped_convolution_input_gradient   dy [T, H], weight, sequence_starts -> dx [T, H] as dy, 0
//                                      after the last sequence
// grouped_convolution_weight_gradient  dy [T, H], x [T, H], sequence_starts -> dweight [H, C, W]
//                                      f32 (, dbias [H] f32); slots after the last sequence count
//                                      for nothing
// Source: Chelombiev et al., GroupBERT, arXiv 2106.05822; torch.nn.Conv1d(groups = H / C).
#pragma once

#include "graph/graph.h"

namespace cloze::ops {

struct GroupedConvolutionWeightGradientAttributes {
  int64_t group_size = 1;  // C
  int64_t width = 1;       // W
  bool has_bias = false;
};

struct GroupedConvolution {
  enum Input { kX, kWeight, kSequenceStarts, kBias };
  enum Output { kY };
};
struct GroupedConvolutionInputGradient {
  enum Input { kDy, kWeight, kSequenceStarts };
  enum Output { kDx };
};
struct GroupedConvolutionWeightGradient {
  enum Input { kDy, kX, kSequenceStarts };
  enum Output { kDweight, kDbias };
};

extern const graph::OpDefinition kGroupedConvolution;
extern const graph::OpDefinition kGroupedConvolutionInputGradient;
extern const graph::OpDefinition kGroupedConvolutionWeightGradient;

struct GroupedConvolutionInputs {
  graph::Value x;                // [T, H]
  graph::Value weight;           // [H, C, W]
  graph::Value sequence_starts;  // [B+1] i32
  graph::Value bias;             // [H], may be invalid
};
graph::Value grouped_convolution(graph::Graph& graph, const GroupedConvolutionInputs& in);

}  // namespace cloze::ops
