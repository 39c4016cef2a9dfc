// packed_linear: linear (ops/linear.h) with a weight that was laid out beforehand as a product
// reads it. Weights that change seldom are packed once (passes/pack_weights.h), where linear's
// kernels pack them in every call. For inference: it has no gradient.
//
// pack_weight     packed[p, k, j] = weight[p C + j, k], 0 where p C + j >= N: panels of C outputs
//   Input:   weight [N, K] f32
//   Output:  packed [ceil(N / C), K, C] f32 | bf16, rounded to nearest
//
// packed_linear   y_i = activation(x weight_i^T + bias_i)      i < W
//   Inputs:  x [M, K] f32;  packed_i, as pack_weight gives them;  bias_i [N] f32 (optional)
//   Outputs: y_i [M, N] f32
// Products and sums are in f32: a bf16 weight halves what is read from memory, nothing else. What
// reads the same x, as queries, keys and values do, is one node, so that x is laid out once.
//
// In pairs, for processors that multiply bf16 themselves, two neighbours of the depth at a time:
//   packed[p, q, i, j, h] = weight[64 p + j, 32 q + 2 i + h], 0 outside of it
//   Output:  packed [ceil(N / 64), ceil(K / 32), 16, 64, 2] f32 | bf16
// There W is 1, x has the dtype of the packed weight, y that of the attributes; sums are in f32.
// Source: oneDNN's layout BA16a64b2a, which its products read as it lies.
//
// For Strassen's algorithm the packed weight is [7, N / 2 C, K / 2, C]: the panels of seven sums
// of the quarters of weight^T, B11 B12 / B21 B22:
//   B11 + B22, B11, B12 - B22, B21 - B11, B22, B11 + B12, B21 + B22
// A product of many rows then takes 7/8 of the multiplications. Its error is bounded by norms, not
// element by element: about twice that of the definition for one level, as here; and a row of y
// depends, in its last bits, on the row half of x further.
// Source: Strassen, Numerische Mathematik 13, 1969; Higham, Accuracy and Stability of Numerical
// Algorithms, 2002, section 23.2.2, for the error.
#pragma once

#include <array>
#include <cstdint>

#include "graph/graph.h"
#include "ops/gelu.h"

namespace cloze::ops {

// What each quadrant of a matrix [2, 2] is multiplied with: 11, 12, 21, 22 (row, column).
using Quadrants = std::array<int8_t, 4>;

inline constexpr std::array<Quadrants, 7> kStrassenBlocks = {{{1, 0, 0, 1},
                                                              {1, 0, 0, 0},
                                                              {0, 1, 0, -1},
                                                              {-1, 0, 1, 0},
                                                              {0, 0, 0, 1},
                                                              {1, 1, 0, 0},
                                                              {0, 0, 1, 1}}};

// Whether halves of the weight are whole panels.
bool suits_strassen(const Shape& weight, int64_t panel_columns);

enum class WeightLayout { kPanels, kStrassen, kPairs };

// How a packed weight of this shape is laid out.
WeightLayout layout_of(const Shape& packed);

// The extents of a block of pairs.
inline constexpr int64_t kPairColumns = 64;
inline constexpr int64_t kPairDepth = 32;

struct PackWeightAttributes {
  int64_t panel_columns = 0;  // C; of no meaning for pairs. 0: weights stay as they are
  DType dtype = DType::kF32;
  WeightLayout layout = WeightLayout::kPanels;  // kStrassen only of a weight that suits
};

struct PackedLinearAttributes {
  int64_t outputs = 0;  // N
  std::optional<GeluForm> activation;
  DType dtype = DType::kF32;  // of y
  int64_t num_weights = 1;    // W
};

// Which inputs a packed_linear has: weight i and bias i.
inline size_t packed_input(int64_t i) { return static_cast<size_t>(1 + i); }
inline size_t bias_input(const PackedLinearAttributes& attributes, int64_t i) {
  return packed_input(attributes.num_weights + i);
}

extern const graph::OpDefinition kPackWeight;
extern const graph::OpDefinition kPackedLinear;

}  // namespace cloze::ops
