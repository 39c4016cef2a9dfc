#include "ops/stochastic_rounding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backend/testing/run_kernel.h"
#include "base/bfloat16.h"

namespace cloze::backend::reference {
namespace {

using testing::apply_in_double;
using testing::floats;
using testing::integers;

std::vector<double> rounded(const std::vector<double>& values, int32_t seed, int32_t step,
                            int32_t site = 3, double gradient_scale = 0.5) {
  return apply_in_double(
             ops::kStochasticRounding, ops::StochasticRoundingAttributes{site},
             {floats({static_cast<int64_t>(values.size())}, values), floats({1}, {gradient_scale}),
              integers({2}, {static_cast<double>(seed), static_cast<double>(step)})})[0]
      .values;
}

// Over all numbers that may be drawn, in double, where their sum is exact.
TEST(StochasticRounding, IsRightOnAverage) {
  for (const float value : {1.0f, 1.00001f, -1.2345678f, 3.0e-5f, -0x1.fffffep0f, 1e-40f, 0.0f}) {
    double sum = 0.0;
    for (uint32_t number = 0; number < 65536; ++number) {
      const float one = ops::stochastically_rounded(value, number);
      EXPECT_EQ(static_cast<float>(bfloat16(one)), one);
      sum += one;
    }
    EXPECT_EQ(sum / 65536.0, value);
  }
}

// The numbers of neighbours, of steps and of sites are independent: the number of times that one
// value is rounded up is spread like that of heads in coin flips. Five standard deviations: 1 in
// 10^6.
TEST(StochasticRounding, TheDrawnNumbersAreRightOnAverage) {
  constexpr int64_t kElements = 8192;
  constexpr int kDraws = 8;
  for (const double share : {1.0 / 256.0, 0.25, 0.5, 0.9}) {
    const float value = static_cast<float>(1.0 + share * 0x1p-7);
    const double exact_share = (value - 1.0) * 0x1p7;
    int64_t up = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      for (const double one : rounded(std::vector<double>(kElements, value), 11, draw, 2 * draw)) {
        up += one > 1.0;
      }
    }
    const double expected = exact_share * kElements * kDraws;
    EXPECT_NEAR(static_cast<double>(up), expected, 5.0 * std::sqrt(expected * (1.0 - exact_share)))
        << share;
  }
}

TEST(StochasticRounding, IsAFunctionOfSeedStepSiteAndElement) {
  const std::vector<double> values(1000, static_cast<float>(0.1));
  EXPECT_EQ(rounded(values, 1, 2), rounded(values, 1, 2));
  EXPECT_NE(rounded(values, 1, 2), rounded(values, 2, 2));
  EXPECT_NE(rounded(values, 1, 2), rounded(values, 1, 3));
  EXPECT_NE(rounded(values, 1, 2, 3), rounded(values, 1, 2, 4));
}

TEST(StochasticRounding, LeavesNumbersOfBFloat16AndWhatIsNotFinite) {
  const std::vector<double> exact = {1.0, -1.5, 0.0, 0x1p-133, 0x1.fep127};
  EXPECT_EQ(rounded(exact, 1, 1), exact);
  const std::vector<double> others = {static_cast<float>(0.1), static_cast<float>(0.3)};
  EXPECT_NE(rounded(others, 1, 1), others);
  EXPECT_EQ(rounded(others, 1, 1, 3, 0.0), others) << "nothing moves in a step that is skipped";
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(ops::stochastically_rounded(-infinity, 65535), -infinity);
  const float nan = std::bit_cast<float>(0x7f80ffffu);
  EXPECT_TRUE(std::isnan(ops::stochastically_rounded(nan, 1)));
}

}  // namespace
}  // namespace cloze::backend::reference
