// dropout_add_layer_norm: the end of every sublayer of an encoder, in one pass over the data. A
// post-norm encoder continues with y. In a pre-norm encoder the next sublayer reads y, and its
// result is added to z.
//
//   z = residual + dropout(x)       y = layer_norm(z) * gamma + beta
//
// Inputs:  x, residual [T, H] f32 | bf16 | f16;  gamma, beta [H] f32;
//          sample_ids, position_ids [T] i32;  random_key [2] i32
// Outputs: y, z [T, H] as x;  mean, rstd [T] f32.  z, mean and rstd are kept for the backward pass.
// Statistics are of z as it is stored. Rate 0 means no dropout: the values of the random inputs do
// not matter.
//
// dropout_add_layer_norm_gradient
// Inputs:  dy, z [T, H];  gamma [H];  mean, rstd [T];  sample_ids, position_ids;  random_key;
//          dz_read [T, H] (optional): the gradient of z as others read it
// Outputs: dx (dz through the mask), dresidual (= dz, with dz_read) [T, H];  dgamma, dbeta [H] f32
#pragma once

#include "graph/graph.h"
#include "ops/dropout.h"

namespace cloze::ops {

struct DropoutAddLayerNormAttributes {
  double rate = 0.0;
  int32_t site = 0;
  double epsilon = 1e-12;
};

struct DropoutAddLayerNorm {
  enum Input { kX, kResidual, kGamma, kBeta, kSampleIds, kPositionIds, kRandomKey };
  enum Output { kY, kZ, kMean, kRstd };
};
struct DropoutAddLayerNormGradient {
  enum Input { kDy, kZ, kGamma, kMean, kRstd, kSampleIds, kPositionIds, kRandomKey, kDzRead };
  enum Output { kDx, kDresidual, kDgamma, kDbeta };
};

extern const graph::OpDefinition kDropoutAddLayerNorm;
extern const graph::OpDefinition kDropoutAddLayerNormGradient;

struct DropoutAddLayerNormInputs {
  graph::Value x, residual;  // [T, H]
  graph::Value gamma, beta;  // [H]
};
struct SumAndNorm {
  graph::Value z, y;  // [T, H]
};
SumAndNorm dropout_add_layer_norm(graph::Graph& graph, const DropoutAddLayerNormInputs& in,
                                  const RandomInputs& random, double rate, double epsilon);

}  // namespace cloze::ops
