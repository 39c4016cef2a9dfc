// packed_linear: linear (ops/linear.h) with a weight that was laid out beforehand as a product
// reads it. Weights that change seldom are packed once (passes/pack_weights.h), where linear's
// kernels pack them in every call. For inference: it has no gradient.
//
// pack_weight     packed[p, k, j] = weight[p C + j, k], 0 where p C + j >= N: panels of C outputs
//   Input:   weight [N, K] f32
//   Output:  packed [ceil(N / C), K, C] f32 | bf16 | f16, rounded to nearest
//
// packed_linear   y_i = activation(x weight_i^T + bias_i)      i < W
//   Inputs:  x [M, K] f32;  packed_i, as pack_weight gives them;  bias_i [N] f32 (optional)
//   Outputs: y_i [M, N] f32
// Products and sums are in f32: a bf16 weight only halves the bytes read from memory. Products that
// read the same x, such as queries, keys and values, form one node, so that x is packed once.
//
// The layout in pairs is for processors with bf16 units, which multiply two neighbours of the depth
// at a time:
//   packed[p, q, i, j, h] = weight[64 p + j, 32 q + 2 i + h], 0 outside of it
//   Output:  packed [ceil(N / 64), ceil(K / 32), 16, 64, 2] f32 | bf16 | f16
// There W is 1, x has the dtype of the packed weight, y that of the attributes; sums are in f32.
// Source: oneDNN's layout BA16a64b2a, which its products read as it is.
#pragma once

#include <cstdint>

#include "graph/graph.h"
#include "ops/gelu.h"

namespace cloze::ops {

enum class WeightLayout { kPanels, kPairs };

// The layout of a packed weight of this shape.
WeightLayout layout_of(const Shape& packed);

// The extents of a block of pairs.
inline constexpr int64_t kPairColumns = 64;
inline constexpr int64_t kPairDepth = 32;

struct PackWeightAttributes {
  int64_t panel_columns = 0;  // C; not used for pairs. 0: weights stay as they are
  DType dtype = DType::kF32;
  WeightLayout layout = WeightLayout::kPanels;
};

struct PackedLinearAttributes {
  int64_t outputs = 0;  // N
  std::optional<GeluForm> activation;
  DType dtype = DType::kF32;  // of y
  int64_t num_weights = 1;    // W
};

struct PackWeight {
  enum Input { kWeight };
  enum Output { kPacked };
};
struct PackedLinear {
  enum Input { kX, kPacked };  // the first of the weights, which biases follow
  enum Output { kY };
};

// The inputs of a packed_linear: weight i and bias i.
inline size_t packed_input(int64_t i) { return PackedLinear::kPacked + static_cast<size_t>(i); }
inline size_t bias_input(const PackedLinearAttributes& attributes, int64_t i) {
  return packed_input(attributes.num_weights + i);
}

extern const graph::OpDefinition kPackWeight;
extern const graph::OpDefinition kPackedLinear;

}  // namespace cloze::ops
