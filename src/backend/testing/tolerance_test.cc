#include "backend/testing/tolerance.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace cloze::backend::testing {
namespace {

TEST(Tolerance, GrowsWithTheSumAndTheDtype) {
  const std::vector<double> expected{1.0};
  const std::vector<double> scale{2.0};
  const auto bound = [&](const ErrorModel& model) { return tolerances(model, expected, scale)[0]; };
  const double narrow = bound({.summed_terms = 1});
  EXPECT_LT(narrow, bound({.summed_terms = 100}));
  EXPECT_LT(bound({.summed_terms = 100}), bound({.output = DType::kBF16, .summed_terms = 100}));
  EXPECT_GE(narrow, unit_roundoff(DType::kF32));
  EXPECT_LT(bound({.output = DType::kBF16}),
            bound({.output = DType::kBF16, .through = DType::kBF16}));
}

// Among subnormal numbers a rounding is half a step, whatever the value.
TEST(Tolerance, HoldsAmongSubnormalNumbers) {
  const std::vector<double> tiny{0x1p-24};
  const ErrorModel f16{.output = DType::kF16};
  EXPECT_GE(tolerances(f16, tiny, tiny)[0], 0x1p-25);
  EXPECT_LT(tolerances({.output = DType::kBF16}, tiny, tiny)[0], 0x1p-30);
}

TEST(Tolerance, KnowsWhatRoundsToInfinity) {
  EXPECT_EQ(overflow_threshold(DType::kF16), 65520.0);
  EXPECT_EQ(overflow_threshold(DType::kF32), 0x1p128 - 0x1p103);
  EXPECT_EQ(overflow_threshold(DType::kBF16), 0x1p128 - 0x1p119);
}

TEST(Tolerance, ScaleIsAtLeastTheAverageOfTheRow) {
  const std::vector<double> expected{0.0, 0.0, 3.0, 4.0};
  const std::vector<double> changes{0.0, 2.0, 1.0, 1.0};
  const std::vector<double> result = scales(expected, changes, 2);
  EXPECT_DOUBLE_EQ(result[0], std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(result[1], 2.0);
  EXPECT_DOUBLE_EQ(result[2], std::sqrt(12.5));
  EXPECT_DOUBLE_EQ(result[3], 4.0);
}

TEST(Tolerance, MistrustsWideBoundsAndZeros) {
  const std::vector<double> values{1.0, -1.0, 1.0};
  EXPECT_TRUE(is_meaningful(std::vector<double>(3, 0.01), values));
  EXPECT_FALSE(is_meaningful(std::vector<double>(3, 0.5), values));
  EXPECT_FALSE(has_too_many_zeros(values));
  EXPECT_TRUE(has_too_many_zeros(std::vector<double>{0.0, 0.0, 1.0}));
}

TEST(CentralDifference, BoundCoversTheError) {
  const double h = central_difference_step();
  std::array<double, 6> values;
  const double steps[] = {-4.0, -2.0, -1.0, 1.0, 2.0, 4.0};
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::exp(3.0 * (0.2 + steps[i] * h));
  const CentralDifference result = central_difference(values, std::exp(0.6));
  EXPECT_NEAR(result.derivative, 3.0 * std::exp(0.6), result.error_bound);
  EXPECT_LT(result.error_bound, 1e-7);
}

}  // namespace
}  // namespace cloze::backend::testing
