// grouped_linear: G products side by side. Block g of the inputs feeds block g of the outputs.
//
//   y[m, n] = sum_k x[m, g K/G + k] weight[n, k, 0] + bias[n]     g = n G / N, k < K/G
//
// which is linear with a weight [N, K] of zeros outside its G blocks, for a G-th of the work.
// Inputs:  x [M, K] f32 | bf16 | f16;  weight [N, K/G, 1] f32;  bias [N] f32 (optional)
// Outputs: y [M, N] as x
// G divides K and N. The weight is laid out as that of torch.nn.Conv1d with a window of one token,
// which is how GroupBERT is published. It counts as rounded to the dtype of x; products are summed
// in f32.
//
// grouped_linear_input_gradient   dx[m, g K/G + k] = sum_n dy[m, n] weight[n, k, 0], n of block g
//                                 dy [M, N], weight [N, K/G, 1] f32 -> dx [M, K] as dy
// grouped_linear_weight_gradient  dweight[n, k, 0] = sum_m dy[m, n] x[m, g K/G + k],
//                                 dbias = sum_m dy
//                                 dy [M, N], x [M, K] -> dweight [N, K/G, 1] f32 (, dbias [N] f32)
// Source: Chelombiev et al., GroupBERT, arXiv 2106.05822.
#pragma once

#include "graph/graph.h"

namespace cloze::ops {

struct GroupedLinearAttributes {
  int64_t groups = 1;
};

struct GroupedLinearWeightGradientAttributes {
  int64_t groups = 1;
  bool has_bias = false;
};

struct GroupedLinear {
  enum Input { kX, kWeight, kBias };
  enum Output { kY };
};
struct GroupedLinearInputGradient {
  enum Input { kDy, kWeight };
  enum Output { kDx };
};
struct GroupedLinearWeightGradient {
  enum Input { kDy, kX };
  enum Output { kDweight, kDbias };
};

// The groups of a weight [N, K/G, 1]; that of linear, [N, K], is one group.
struct LinearGroups {
  int64_t count = 1;
  int64_t inputs = 0;  // of one group
  int64_t outputs = 0;

  int64_t all_inputs() const { return count * inputs; }
  int64_t all_outputs() const { return count * outputs; }
  int64_t weights() const { return inputs * outputs; }  // of one group
};
inline LinearGroups linear_groups(int64_t all_inputs, const Shape& weight) {
  const int64_t count = all_inputs / weight[1];
  return {count, weight[1], weight[0] / count};
}

extern const graph::OpDefinition kGroupedLinear;
extern const graph::OpDefinition kGroupedLinearInputGradient;
extern const graph::OpDefinition kGroupedLinearWeightGradient;

struct GroupedLinearInputs {
  graph::Value x;       // [M, K]
  graph::Value weight;  // [N, K/G, 1]
  graph::Value bias;    // [N], may be invalid
};
graph::Value grouped_linear(graph::Graph& graph, const GroupedLinearInputs& in);

}  // namespace cloze::ops
