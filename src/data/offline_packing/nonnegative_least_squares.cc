#include "data/offline_packing/nonnegative_least_squares.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace cloze::data {
namespace {

constexpr double kRelativeTolerance = 1e-10;

// A new column whose part outside the members' span is below this share of it is refused.
constexpr double kDependent = 1e-10;

// The passive columns of an active-set least-squares solver, and the Cholesky factor of their
// weighted normal matrix:   L L^T = A_p^T W A_p,   L lower triangular, one row per column.
class PassiveSet {
 public:
  PassiveSet(std::span<const SparseColumn> columns, std::span<const double> weights)
      : columns_(columns), weights_(weights) {}

  const std::vector<int32_t>& members() const { return members_; }

  // False, and nothing changed, when the column depends on the members.
  bool append(int32_t column) {
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

  // `place` is an index into members().
  //
  // Without row `place` the factor has one entry too many right of the diagonal in each row below:
  // Givens rotations of neighbouring columns take them out.
  void remove(size_t place) {
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

  // The unconstrained solution s of the members for the right-hand side A_p^T W b.
  std::vector<double> solve(std::span<const double> b) const {
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

 private:
  // a^T W a'
  double product(int32_t one, int32_t other) const {
    double sum = 0.0;
    auto right = columns_[other].begin();
    for (const SparseEntry& left : columns_[one]) {
      while (right != columns_[other].end() && right->row < left.row) ++right;
      if (right == columns_[other].end()) break;
      if (right->row == left.row) sum += weights_[left.row] * left.value * right->value;
    }
    return sum;
  }

  std::span<const SparseColumn> columns_;
  std::span<const double> weights_;
  std::vector<int32_t> members_;
  std::vector<std::vector<double>> factor_;  // row i has i + 1 entries
};

class Solver {
 public:
  Solver(std::span<const SparseColumn> columns, std::span<const double> b,
         std::span<const double> weights)
      : columns_(columns),
        b_(b),
        weights_(weights),
        passive_(columns, weights),
        x_(columns.size()),
        residual_(b.begin(), b.end()),
        is_closed_(columns.size()) {}

  std::vector<double> solve() {
    double largest = 0.0;
    for (size_t j = 0; j < columns_.size(); ++j) largest = std::max(largest, gradient(j));
    tolerance_ = kRelativeTolerance * largest;
    // Each accepted column lowers the residual; the bound only guards against rounding.
    for (size_t round = 0; round < 3 * columns_.size(); ++round) {
      const int64_t column = steepest();
      if (column < 0) break;
      enter(static_cast<int32_t>(column));
    }
    return std::move(x_);
  }

 private:
  // -1/2 d objective / d x_j = a_j^T W r
  double gradient(size_t j) const {
    double sum = 0.0;
    for (const SparseEntry& entry : columns_[j]) {
      sum += weights_[entry.row] * entry.value * residual_[entry.row];
    }
    return sum;
  }

  int64_t steepest() const {
    int64_t best = -1;
    double best_gradient = tolerance_;
    for (size_t j = 0; j < columns_.size(); ++j) {
      if (is_closed_[j]) continue;
      const double slope = gradient(j);
      if (slope > best_gradient) {
        best = static_cast<int64_t>(j);
        best_gradient = slope;
      }
    }
    return best;
  }

  void enter(int32_t column) {
    is_closed_[column] = true;
    if (!passive_.append(column)) {
      refused_.push_back(column);
      return;
    }
    std::vector<double> s = passive_.solve(b_);
    if (s.back() <= 0.0) {  // only by rounding: the column does not help now
      passive_.remove(s.size() - 1);
      refused_.push_back(column);
      return;
    }
    while (std::any_of(s.begin(), s.end(), [](double value) { return value <= 0.0; })) {
      step_to_border(s);
      s = passive_.solve(b_);
    }
    accept(s);
  }

  // Moves x towards s until the first of its values is 0, and lets those at 0 leave.
  void step_to_border(const std::vector<double>& s) {
    const auto& members = passive_.members();
    double share = 1.0;
    size_t first = 0;
    for (size_t i = 0; i < s.size(); ++i) {
      if (s[i] > 0.0) continue;
      const double x = x_[members[i]];
      if (x / (x - s[i]) < share) {
        share = x / (x - s[i]);
        first = i;
      }
    }
    for (size_t i = 0; i < s.size(); ++i) x_[members[i]] += share * (s[i] - x_[members[i]]);
    x_[members[first]] = 0.0;
    for (size_t i = members.size(); i-- > 0;) {
      if (x_[members[i]] > 0.0) continue;
      x_[members[i]] = 0.0;
      is_closed_[members[i]] = false;
      passive_.remove(i);
    }
  }

  void accept(const std::vector<double>& s) {
    for (const int32_t column : refused_) is_closed_[column] = false;
    refused_.clear();
    residual_.assign(b_.begin(), b_.end());
    const auto& members = passive_.members();
    for (size_t i = 0; i < s.size(); ++i) {
      x_[members[i]] = s[i];
      for (const SparseEntry& entry : columns_[members[i]]) {
        residual_[entry.row] -= entry.value * s[i];
      }
    }
  }

  std::span<const SparseColumn> columns_;
  std::span<const double> b_;
  std::span<const double> weights_;
  PassiveSet passive_;
  std::vector<double> x_;
  std::vector<double> residual_;
  std::vector<bool> is_closed_;  // passive, or refused since x last changed
  std::vector<int32_t> refused_;
  double tolerance_ = 0.0;
};

}  // namespace

std::vector<double> nonnegative_least_squares(std::span<const SparseColumn> columns,
                                              std::span<const double> b,
                                              std::span<const double> weights) {
  CLOZE_CHECK(b.size() == weights.size(), "{} rows, {} weights", b.size(), weights.size());
  return Solver(columns, b, weights).solve();
}

}  // namespace cloze::data
