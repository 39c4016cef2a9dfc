// layer_norm: every row made zero-mean and unit-variance, then scaled and shifted per channel.
//
//   mean = sum_j x[j] / H      rstd = 1 / sqrt(sum_j (x[j] - mean)^2 / H + epsilon)
//   y[j] = (x[j] - mean) * rstd * gamma[j] + beta[j]
//
// Inputs:  x [T, H] f32 | bf16 | f16;  gamma, beta [H] f32
// Outputs: y [T, H] as x;  mean, rstd [T] f32, kept for the backward pass
// Statistics in f32. epsilon is added to the variance. Source: Ba, Kiros, Hinton, arXiv 1607.06450.
//
// layer_norm_gradient
// Inputs:  dy, x [T, H];  gamma [H];  mean, rstd [T]
// Outputs: dx [T, H] as x;  dgamma, dbeta [H] f32
//   xhat = (x - mean) rstd;  g = dy gamma;  dx = rstd (g - mean_j(g) - xhat mean_j(g xhat))
//   dgamma = sum_t dy xhat;  dbeta = sum_t dy
#pragma once

#include "graph/graph.h"

namespace cloze::ops {

struct LayerNormAttributes {
  double epsilon = 1e-12;
};

struct LayerNorm {
  enum Input { kX, kGamma, kBeta };
  enum Output { kY, kMean, kRstd };
};
struct LayerNormGradient {
  enum Input { kDy, kX, kGamma, kMean, kRstd };
  enum Output { kDx, kDgamma, kDbeta };
};

extern const graph::OpDefinition kLayerNorm;
extern const graph::OpDefinition kLayerNormGradient;

graph::Value layer_norm(graph::Graph& graph, graph::Value x, graph::Value gamma, graph::Value beta,
                        double epsilon);

}  // namespace cloze::ops
