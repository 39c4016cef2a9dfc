// packed_linear: linear (ops/linear.h) with a weight that was laid out beforehand as a product
// reads it. Weights that change seldom are packed once (passes/pack_weights.h), where linear's
// kernels pack them in every call. For inference: it has no gradient. The layout is the backend's:
// blocks of C outputs and D inputs, in which E neighbours along the inputs lie together.
//
// pack_weight     packed[p, q, i, j, h] = weight[C p + j, D q + E i + h], 0 outside of it
//   Input:   weight [N, K] f32
//   Output:  packed [ceil(N / C), ceil(K / D), D / E, C, E] f32 | bf16 | f16, rounded to nearest;
//            without the second extent where a block takes all inputs, and without E where it is 1.
//            Row by row (C = 1, all inputs, E = 1) a weight of any shape keeps it
//
// packed_linear   y_i = activation(x weight_i^T + bias_i)      i < W
//   Inputs:  x [M, K] f32 | the dtype of packed;  packed_i, as pack_weight gives them;
//            bias_i [N] f32 (optional)
//   Outputs: y_i [M, N] f32 | the dtype of x
// Sums are in f32. With x in f32, a bf16 weight only halves the bytes read from memory. Products
// that read the same x, such as queries, keys and values, can form one node, so that x is packed
// once.
#pragma once

#include <cstdint>

#include "graph/graph.h"
#include "ops/gelu.h"

namespace cloze::ops {

struct WeightLayout {
  int64_t columns = 0;     // C, of outputs
  int64_t depth = 0;       // D, of inputs, a multiple of E; 0: all of them
  int64_t neighbours = 1;  // E

  // The shape that a weight [N, K] has when it is packed.
  Shape shape(int64_t N, int64_t K) const;
  // Where element (n, k) of a weight with K inputs is.
  int64_t place(int64_t n, int64_t k, int64_t K) const;
  // Says whether weights are as the model has them, row by row.
  constexpr bool is_plain() const { return columns == 1 && depth == 0 && neighbours == 1; }

  bool operator==(const WeightLayout&) const = default;
};

struct PackWeightAttributes {
  WeightLayout layout;
  DType dtype = DType::kF32;
};

struct PackedLinearAttributes {
  int64_t outputs = 0;  // N
  WeightLayout layout;
  std::optional<GeluForm> activation = {};
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
