// The passive columns of an active-set least-squares solver, and the Cholesky factor of their
// weighted normal matrix:   L L^T = A_p^T W A_p,   L lower triangular, one row per column.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/offline_packing/nonnegative_least_squares.h"

namespace cloze::data {

class PassiveSet {
 public:
  PassiveSet(std::span<const SparseColumn> columns, std::span<const double> weights)
      : columns_(columns), weights_(weights) {}

  const std::vector<int32_t>& members() const { return members_; }
  // False, and nothing changed, when the column depends on the members.
  bool append(int32_t column);
  void remove(size_t place);  // index into members()
  // The unconstrained solution s of the members for the right-hand side A_p^T W b.
  std::vector<double> solve(std::span<const double> b) const;

 private:
  double product(int32_t one, int32_t other) const;  // a^T W a'

  std::span<const SparseColumn> columns_;
  std::span<const double> weights_;
  std::vector<int32_t> members_;
  std::vector<std::vector<double>> factor_;  // row i has i + 1 entries
};

}  // namespace cloze::data
