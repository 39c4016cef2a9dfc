// pool_sequences: the rows of each sequence made one, in one or several ways side by side.
//
//   y[b, m] = sum_t weight(t) h_t / divisor       h_0 ... h_(n-1): the rows of sequence b
//
//   mode                     weight(t)        divisor
//   kFirst                   1 of t = 0       1
//   kMean                    1                n
//   kMeanSqrtLength          1                sqrt(n)
//   kWeightedMean            t + 1            n (n + 1) / 2
//   kLast                    1 of t = n - 1   1
//   kMax                     each dimension has its largest number; NaN where one is NaN
//
// Inputs:  x [T, H] f32 | bf16 | f16;  sequence_starts [B+1] i32, ascending (unused entries repeat
//          the end of the last sequence: an empty sequence gives zeros)
// Outputs: y [B, M*H] f32: M modes, in the order given
// Sums are in f32, of t = 0 ... n - 1 in turn: a sequence gives the same bits alone and in any batch.
// Source: Reimers and Gurevych, arXiv 1908.10084; the weighted mean: Muennighoff, arXiv 2202.08904.
//
// pool_sequences_gradient: dy [B, M*H] f32, x, sequence_starts -> dx [T, H] as x. The first of equal
//   maxima takes all; slots after the last sequence get 0.
//
// normalize_rows: every row made of length 1.  y = x / max(|x|, 1e-12),  |x| = sqrt(sum_j x[j]^2)
// Inputs:  x [R, C] f32 | bf16 | f16.   Outputs: y [R, C] f32; a row of zeros stays one.
// Squares are summed in double.
//
// normalize_rows_gradient: dy [R, C] f32, x -> dx [R, C] as x
//   dx = (dy - y (y . dy)) / |x|;  dy / 1e-12 where |x| < 1e-12;  0 of a row of zeros, which has no
//   direction: what is unused sends nothing back
#pragma once

#include <vector>

#include "graph/graph.h"

namespace cloze::ops {

enum class PoolingMode { kFirst, kMean, kMax, kMeanSqrtLength, kWeightedMean, kLast };
inline constexpr size_t kMostPoolingModes = 6;  // of one operator

struct PoolingAttributes {
  std::vector<PoolingMode> modes;
};

// The weight of row t of n, in any mode but kMax.
constexpr double pooling_weight(PoolingMode mode, int64_t t, int64_t n) {
  if (mode == PoolingMode::kFirst) return t == 0 ? 1.0 : 0.0;
  if (mode == PoolingMode::kLast) return t == n - 1 ? 1.0 : 0.0;
  return mode == PoolingMode::kWeightedMean ? static_cast<double>(t + 1) : 1.0;
}

// The square of what the weighted sum of n rows is divided by.
constexpr double squared_pooling_divisor(PoolingMode mode, int64_t n) {
  const auto rows = static_cast<double>(n);
  if (mode == PoolingMode::kMeanSqrtLength) return rows;
  const double ranks = rows * (rows + 1.0) / 2.0;
  if (mode == PoolingMode::kWeightedMean) return ranks * ranks;
  return mode == PoolingMode::kMean ? rows * rows : 1.0;
}

inline constexpr double kLeastNorm = 1e-12;  // that a row is divided by

struct PoolSequences {
  enum Input { kX, kSequenceStarts };
  enum Output { kY };
};
struct PoolSequencesGradient {
  enum Input { kDy, kX, kSequenceStarts };
  enum Output { kDx };
};
struct NormalizeRows {
  enum Input { kX };
  enum Output { kY };
};
struct NormalizeRowsGradient {
  enum Input { kDy, kX };
  enum Output { kDx };
};

extern const graph::OpDefinition kPoolSequences;
extern const graph::OpDefinition kPoolSequencesGradient;
extern const graph::OpDefinition kNormalizeRows;
extern const graph::OpDefinition kNormalizeRowsGradient;

graph::Value pool_sequences(graph::Graph& graph, graph::Value x, graph::Value sequence_starts,
                            const std::vector<PoolingMode>& modes);
graph::Value normalize_rows(graph::Graph& graph, graph::Value x);

}  // namespace cloze::ops
