// linear: matrix product with a weight stored [out, in] (PyTorch's layout), bias, activation.
//
//   u = x weight^T + bias         y = activation(u)
//
// Inputs:  x [M, K] f32 | bf16 | f16;  weight [N, K] f32;  bias [N] f32 (optional)
// Outputs: y [M, N] as x;  with an activation also u [M, N] as x, kept for the backward pass
// A weight counts as rounded to the dtype of x: kernels round it while they load it, or it is a copy
// in that dtype (passes/pack_weights.h). Products are summed in f32. The activation is set by the fuse pass, never by
// model code.
//
// linear_input_gradient   dx = dy weight        dy [M, N], weight [N, K] f32 -> dx [M, K] as dy
// linear_weight_gradient  dweight = dy^T x, dbias = sum_m dy
//                         dy [M, N], x [M, K] -> dweight [N, K] f32 (, dbias [N] f32)
#pragma once

#include "graph/graph.h"
#include "ops/gelu.h"

namespace cloze::ops {

struct LinearAttributes {
  std::optional<GeluForm> activation;
};

struct LinearWeightGradientAttributes {
  bool has_bias = false;
};

struct Linear {
  enum Input { kX, kWeight, kBias };
  enum Output { kY, kU };
};
struct LinearInputGradient {
  enum Input { kDy, kWeight };
  enum Output { kDx };
};
struct LinearWeightGradient {
  enum Input { kDy, kX };
  enum Output { kDweight, kDbias };
};

extern const graph::OpDefinition kLinear;
extern const graph::OpDefinition kLinearInputGradient;
extern const graph::OpDefinition kLinearWeightGradient;

struct LinearInputs {
  graph::Value x;       // [M, K]
  graph::Value weight;  // [N, K]
  graph::Value bias;    // [N], may be invalid
};
graph::Value linear(graph::Graph& graph, const LinearInputs& in);

}  // namespace cloze::ops
