#include "ops/pooling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backend/testing/run_kernel.h"

namespace cloze::backend::reference {
namespace {

using ops::PoolingMode;
using testing::apply_in_double;
using testing::floats;
using testing::integers;
using testing::Tensor;

// A sequence of four rows, an empty one, and a slot that is in none.
const Tensor kX = floats({5, 2}, {1, 8, 3, -2, 2, 8, 2, 6, 100, 100});
const Tensor kStarts = integers({3}, {0, 4, 4});

std::vector<double> pooled(const std::vector<PoolingMode>& modes) {
  return apply_in_double(ops::kPoolSequences, ops::PoolingAttributes{modes}, {kX, kStarts})[0]
      .values;
}

TEST(PoolSequences, MakesOneRowInEveryMode) {
  EXPECT_EQ(pooled({PoolingMode::kFirst}), (std::vector<double>{1, 8, 0, 0}));
  EXPECT_EQ(pooled({PoolingMode::kMean}), (std::vector<double>{2, 5, 0, 0}));
  EXPECT_EQ(pooled({PoolingMode::kMax}), (std::vector<double>{3, 8, 0, 0}));
  EXPECT_EQ(pooled({PoolingMode::kMeanSqrtLength}), (std::vector<double>{4, 10, 0, 0}));
  EXPECT_EQ(pooled({PoolingMode::kLast}), (std::vector<double>{2, 6, 0, 0}));
  const std::vector<double> weighted = pooled({PoolingMode::kWeightedMean});
  EXPECT_DOUBLE_EQ(weighted[0], 2.1);  // (1 + 6 + 6 + 8) / 10
  EXPECT_DOUBLE_EQ(weighted[1], 5.2);  // (8 - 4 + 24 + 24) / 10
}

TEST(PoolSequences, PutsModesSideBySide) {
  EXPECT_EQ(pooled({PoolingMode::kLast, PoolingMode::kFirst}),
            (std::vector<double>{2, 6, 1, 8, 0, 0, 0, 0}));
}

TEST(PoolSequences, GivesTheGradientOfTheLargestToTheFirst) {
  const auto dx = apply_in_double(ops::kPoolSequencesGradient,
                                  ops::PoolingAttributes{{PoolingMode::kMax, PoolingMode::kLast}},
                                  {floats({2, 4}, {10, 20, 1, 2, 7, 7, 7, 7}), kX, kStarts})[0];
  EXPECT_EQ(dx.values, (std::vector<double>{0, 20, 10, 0, 0, 0, 1, 2, 0, 0}));
}

TEST(PoolSequences, KeepsWhatIsNotANumber) {
  Tensor x = kX;
  x.values[2] = std::numeric_limits<double>::quiet_NaN();
  const auto y = apply_in_double(ops::kPoolSequences, ops::PoolingAttributes{{PoolingMode::kMax}},
                                 {x, kStarts})[0];
  EXPECT_TRUE(std::isnan(y.values[0]));
  EXPECT_EQ(y.values[1], 8.0);
}

TEST(NormalizeRows, LeavesARowOfZeros) {
  const Tensor x = floats({2, 2}, {3, -4, 0, 0});
  EXPECT_EQ(apply_in_double(ops::kNormalizeRows, {}, {x})[0].values,
            (std::vector<double>{0.6, -0.8, 0, 0}));
  // Across the row alone: (4, 3) is at right angles to it.
  const auto dx =
      apply_in_double(ops::kNormalizeRowsGradient, {}, {floats({2, 2}, {7, -1, 5, 5}), x})[0];
  EXPECT_DOUBLE_EQ(dx.values[0], 0.8);
  EXPECT_DOUBLE_EQ(dx.values[1], 0.6);
  EXPECT_EQ(dx.values[2], 0.0);
  EXPECT_EQ(dx.values[3], 0.0);
}

}  // namespace
}  // namespace cloze::backend::reference
