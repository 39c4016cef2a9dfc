#include "data/offline_packing/passive_set.h"

#include <cmath>

namespace cloze::data {
namespace {

// A new column whose part outside the members' span is below this share of it is refused.
constexpr double kDependent = 1e-10;

}  // namespace

double PassiveSet::product(int32_t one, int32_t other) const {
  double sum = 0.0;
  auto right = columns_[other].begin();
  for (const SparseEntry& left : columns_[one]) {
    while (right != columns_[other].end() && right->row < left.row) ++right;
    if (right == columns_[other].end()) break;
    if (right->row == left.row) sum += weights_[left.row] * left.value * right->value;
  }
  return sum;
}

bool PassiveSet::append(int32_t column) {
  const size_t n = members_.size();
  std::vector<double> row(n + 1);
  double square = product(column, column);
  const double whole = square;
  for (size_t i = 0; i < n; ++i) {
    double sum = product(column, members_[i]);
    for (size_t k = 0; k < i; ++k) sum -= factor_[i][k] * row[k];
    row[i] = sum / factor_[i][i];
    square -= row[i] * row[i];
  }
  if (square <= kDependent * whole) return false;
  row[n] = std::sqrt(square);
  members_.push_back(column);
  factor_.push_back(std::move(row));
  return true;
}

// Without row `place` the factor has one entry too many right of the diagonal in each row below:
// Givens rotations of neighbouring columns take them out.
void PassiveSet::remove(size_t place) {
  members_.erase(members_.begin() + static_cast<int64_t>(place));
  factor_.erase(factor_.begin() + static_cast<int64_t>(place));
  for (size_t k = place; k < factor_.size(); ++k) {
    const double diagonal = factor_[k][k];
    const double beside = factor_[k][k + 1];
    const double length = std::hypot(diagonal, beside);
    const double cosine = diagonal / length;
    const double sine = beside / length;
    for (size_t i = k; i < factor_.size(); ++i) {
      const double left = factor_[i][k];
      const double right = factor_[i][k + 1];
      factor_[i][k] = cosine * left + sine * right;
      factor_[i][k + 1] = cosine * right - sine * left;
    }
    factor_[k].resize(k + 1);
  }
}

std::vector<double> PassiveSet::solve(std::span<const double> b) const {
  const size_t n = members_.size();
  std::vector<double> s(n);
  for (size_t i = 0; i < n; ++i) {
    double sum = 0.0;
    for (const SparseEntry& entry : columns_[members_[i]]) {
      sum += weights_[entry.row] * entry.value * b[entry.row];
    }
    for (size_t k = 0; k < i; ++k) sum -= factor_[i][k] * s[k];
    s[i] = sum / factor_[i][i];
  }
  for (size_t i = n; i-- > 0;) {
    s[i] /= factor_[i][i];
    for (size_t k = 0; k < i; ++k) s[k] -= factor_[i][k] * s[i];
  }
  return s;
}

}  // namespace cloze::data
