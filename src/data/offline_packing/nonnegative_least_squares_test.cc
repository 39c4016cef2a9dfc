#include "data/offline_packing/nonnegative_least_squares.h"

#include <gtest/gtest.h>

#include "base/philox.h"

namespace cloze::data {
namespace {

struct Problem {
  std::vector<SparseColumn> columns;
  std::vector<double> b, weights;
};

Problem random_problem(uint64_t seed, int rows, int num_columns) {
  PhiloxStream random(seed, 0);
  const auto unit = [&] { return random.below(1000) / 1000.0; };
  Problem problem;
  for (int j = 0; j < num_columns; ++j) {
    SparseColumn column;
    for (int row = 0; row < rows; ++row) {
      if (random.below(4) == 0) column.push_back({row, unit() + 0.1});
    }
    problem.columns.push_back(column);
  }
  for (int row = 0; row < rows; ++row) {
    problem.b.push_back(2.0 * unit() - 0.5);
    problem.weights.push_back(0.1 + unit());
  }
  return problem;
}

// Karush-Kuhn-Tucker: x >= 0, and A^T W (b - A x) is 0 where x > 0 and at most 0 elsewhere.
void expect_optimal(const Problem& problem, const std::vector<double>& x) {
  std::vector<double> residual = problem.b;
  for (size_t j = 0; j < x.size(); ++j) {
    EXPECT_GE(x[j], 0.0);
    for (const auto& [row, value] : problem.columns[j]) residual[row] -= value * x[j];
  }
  for (size_t j = 0; j < x.size(); ++j) {
    double gradient = 0.0;
    for (const auto& [row, value] : problem.columns[j]) {
      gradient += problem.weights[row] * value * residual[row];
    }
    if (x[j] > 0.0) {
      EXPECT_NEAR(gradient, 0.0, 1e-8) << j;
    } else {
      EXPECT_LE(gradient, 1e-8) << j;
    }
  }
}

TEST(NonnegativeLeastSquares, SolutionsAreOptimal) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Problem tall = random_problem(seed, 30, 12);
    expect_optimal(tall, nonnegative_least_squares(tall.columns, tall.b, tall.weights));
    const Problem wide = random_problem(seed, 12, 60);
    expect_optimal(wide, nonnegative_least_squares(wide.columns, wide.b, wide.weights));
  }
}

TEST(NonnegativeLeastSquares, DependentColumnsAreNoTrouble) {
  const std::vector<SparseColumn> columns{{{0, 1.0}}, {{0, 2.0}}, {{0, 1.0}, {1, 1.0}}, {{1, 3.0}}};
  const std::vector<double> b{4.0, 6.0}, weights{1.0, 1.0};
  expect_optimal({columns, b, weights}, nonnegative_least_squares(columns, b, weights));
}

TEST(NonnegativeLeastSquares, NothingHelpsANegativeTarget) {
  const std::vector<SparseColumn> columns{{{0, 1.0}}, {{1, 1.0}}};
  const auto x = nonnegative_least_squares(columns, std::vector{-1.0, -2.0}, std::vector{1.0, 1.0});
  EXPECT_EQ(x, (std::vector{0.0, 0.0}));
}

}  // namespace
}  // namespace cloze::data
