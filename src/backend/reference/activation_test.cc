#include "backend/reference/activation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "backend/testing/run_kernel.h"
#include "ops/tanh.h"

namespace cloze::backend::reference {
namespace {

using testing::apply_in_double;
using testing::floats;

TEST(Activation, GeluOfOneIsTheNormalDistribution) {
  EXPECT_DOUBLE_EQ(gelu_value(ops::GeluForm::kErf, 1.0), 0.8413447460685429);
  EXPECT_DOUBLE_EQ(gelu_value(ops::GeluForm::kErf, -1.0), -0.15865525393145707);
  EXPECT_DOUBLE_EQ(gelu_value(ops::GeluForm::kErf, 0.0), 0.0);
  EXPECT_DOUBLE_EQ(gelu_slope(ops::GeluForm::kErf, 1.0), 0.8413447460685429 + 0.24197072451914337);
}

TEST(Activation, TanhFormIsNearTheExactOne) {
  const double inner = std::sqrt(2.0 / std::numbers::pi) * 1.044715;
  EXPECT_DOUBLE_EQ(gelu_value(ops::GeluForm::kTanh, 1.0), 0.5 * (1.0 + std::tanh(inner)));
  EXPECT_DOUBLE_EQ(gelu_slope(ops::GeluForm::kTanh, 0.0), 0.5);
  EXPECT_NE(gelu_value(ops::GeluForm::kTanh, 1.0), gelu_value(ops::GeluForm::kErf, 1.0));
}

TEST(Activation, GradientsMultiplyByTheSlope) {
  const auto dx = apply_in_double(ops::kGeluGradient, ops::GeluAttributes{ops::GeluForm::kErf},
                                  {floats({2}, {3.0, -2.0}), floats({2}, {1.0, 0.0})})[0];
  EXPECT_DOUBLE_EQ(dx.values[0], 3.0 * gelu_slope(ops::GeluForm::kErf, 1.0));
  EXPECT_DOUBLE_EQ(dx.values[1], -1.0);
  const auto through_tanh = apply_in_double(ops::kTanhGradient, {},
                                            {floats({2}, {3.0, 5.0}), floats({2}, {0.5, 1.0})})[0];
  EXPECT_DOUBLE_EQ(through_tanh.values[0], 2.25);
  EXPECT_DOUBLE_EQ(through_tanh.values[1], 0.0);
}

}  // namespace
}  // namespace cloze::backend::reference
