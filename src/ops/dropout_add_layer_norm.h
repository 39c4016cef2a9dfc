// dropout_add_layer_norm: how every sublayer of a post-norm encoder ends, in one pass over the
// data.
//
//   z = residual + dropout(x)       y = layer_norm(z) * gamma + beta
//
// Inputs:  x, residual [T, H] f32 | bf16 | f16;  gamma, beta [H] f32;
//          sample_ids, position_ids [T] i32;  random_key [2] i32
// Outputs: y, z [T, H] as x;  mean, rstd [T] f32.  z, mean and rstd are kept for the backward pass.
// Statistics are of z as it is stored. Rate 0 means no dropout (the random inputs are not read).
//
// dropout_add_layer_norm_gradient
// Inputs:  dy, z [T, H];  gamma [H];  mean, rstd [T];  sample_ids, position_ids;  random_key
// Outputs: dx (dz through the mask), dresidual (= dz) [T, H];  dgamma, dbeta [H] f32
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
  enum Input { kDy, kZ, kGamma, kMean, kRstd, kSampleIds, kPositionIds, kRandomKey };
  enum Output { kDx, kDresidual, kDgamma, kDbeta };
};

extern const graph::OpDefinition kDropoutAddLayerNorm;
extern const graph::OpDefinition kDropoutAddLayerNormGradient;

struct DropoutAddLayerNormInputs {
  graph::Value x, residual;  // [T, H]
  graph::Value gamma, beta;  // [H]
};
graph::Value dropout_add_layer_norm(graph::Graph& graph, const DropoutAddLayerNormInputs& in,
                                    const RandomInputs& random, double rate, double epsilon);

}  // namespace cloze::ops
