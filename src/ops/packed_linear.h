// packed_linear: linear (ops/linear.h) with a weight that was laid out beforehand as a product
// reads it. Weights that change seldom are packed once (passes/pack_weights.h), where linear's
// kernels pack them in every call. For inference: it has no gradient.
//
// pack_weight     packed[p, k, j] = weight[p C + j, k], 0 where p C + j >= N: panels of C outputs
//   Input:   weight [N, K] f32
//   Output:  packed [ceil(N / C), K, C] f32 | bf16, rounded to nearest
//
// packed_linear   y = activation(x weight^T + bias)
//   Inputs:  x [M, K] f32;  packed [ceil(N / C), K, C] f32 | bf16;  bias [N] f32 (optional)
//   Output:  y [M, N] f32
// Products and sums are in f32: a bf16 weight halves what is read from memory, nothing else.
#pragma once

#include "graph/graph.h"
#include "ops/gelu.h"

namespace cloze::ops {

struct PackWeightAttributes {
  int64_t panel_columns = 0;  // C
  DType dtype = DType::kF32;
};

struct PackedLinearAttributes {
  int64_t outputs = 0;  // N
  std::optional<GeluForm> activation;
};

extern const graph::OpDefinition kPackWeight;
extern const graph::OpDefinition kPackedLinear;

}  // namespace cloze::ops
