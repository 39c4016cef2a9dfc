// Non-negative least squares:   min over x >= 0 of || W^(1/2) (A x - b) ||
//
// A has few entries per column (what a pack holds), so A^T r is cheap; the active-set method keeps
// the Cholesky factor of the passive columns' normal matrix and appends or removes one column at a
// time.
// Source: Lawson and Hanson, "Solving Least Squares Problems", 1974, chapter 23.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cloze::data {

struct SparseEntry {
  int32_t row = 0;
  double value = 0.0;
};
using SparseColumn = std::vector<SparseEntry>;  // rows ascending, each once

// x, one per column. `weights` and `b` have one value per row; weights are positive.
std::vector<double> nonnegative_least_squares(std::span<const SparseColumn> columns,
                                              std::span<const double> b,
                                              std::span<const double> weights);

}  // namespace cloze::data
