// sgd and momentum against torch.optim.SGD of PyTorch 2 in double precision: learning rate 0.0625,
// gradients (0.5 t, -0.25) in updates t = 1 to 4, from (1, -2).
#include "ops/gradient_descent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backend/testing/run_kernel.h"
#include "backend/testing/tolerance.h"

namespace cloze::backend::reference {
namespace {

using testing::apply_in_double;
using testing::floats;
using testing::integers;
using testing::Tensor;

constexpr double kRate = 0.0625;
constexpr double kScale = 0.5;  // of twice the gradient

std::vector<double> after_four_updates(const graph::OpDefinition& op,
                                       const ops::GradientDescentAttributes& attributes) {
  Tensor w = floats({2}, {1.0, -2.0});
  Tensor velocity = floats({2}, {0.0, 0.0});
  for (int t = 1; t <= 4; ++t) {
    std::vector<Tensor> inputs = {w};
    if (&op == &ops::kMomentum) inputs.push_back(velocity);
    for (Tensor& input : std::vector<Tensor>{floats({2}, {1.0 * t, -0.5}), floats({1}, {kScale}),
                                             floats({1}, {kRate}), integers({1}, {double(t)}),
                                             floats({1}, {1.0})}) {
      inputs.push_back(std::move(input));
    }
    const auto results = apply_in_double(op, attributes, inputs);
    w.values = results[0].values;
    if (&op == &ops::kMomentum) velocity.values = results[1].values;
    EXPECT_EQ(results.back().values[0], 1.0);
  }
  return w.values;
}

void expect_near(const std::vector<double>& values, const std::vector<double>& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], expected[i], testing::double_tolerance(1.0 + std::abs(expected[i]), 40));
  }
}

TEST(GradientDescent, FollowsPyTorch) {
  expect_near(after_four_updates(ops::kSgd, {}), {0.6875, -1.9375});
  expect_near(after_four_updates(ops::kMomentum, {.momentum = 0.9}),
              {0.4200312500000001, -1.858609375});
  expect_near(after_four_updates(ops::kSgd, {.weight_decay = 0.1}),
              {0.6646804290771485, -1.8885502998352053});
  // With no momentum both are one, decay included.
  expect_near(after_four_updates(ops::kMomentum, {.momentum = 0.0, .weight_decay = 0.1}),
              {0.6646804290771485, -1.8885502998352053});
}

TEST(GradientDescent, ScaleZeroChangesNothingAndTheCheckTells) {
  const Tensor one = floats({1}, {1.0});
  const Tensor nan = floats({1}, {std::numeric_limits<double>::quiet_NaN()});
  const Tensor index = integers({1}, {1.0});
  const Tensor zero = floats({1}, {0.0});
  const ops::GradientDescentAttributes decay{.weight_decay = 0.1};
  for (const Tensor& result :
       apply_in_double(ops::kMomentum, decay, {one, one, nan, zero, one, index, one})) {
    EXPECT_EQ(result.values[0], 1.0);
  }
  const auto sgd = apply_in_double(ops::kSgd, decay, {one, nan, one, one, index, one});
  EXPECT_TRUE(std::isnan(sgd[1].values[0]));
  const auto momentum =
      apply_in_double(ops::kMomentum, decay, {one, one, nan, one, zero, index, one});
  EXPECT_TRUE(std::isnan(momentum[2].values[0])) << "a velocity that is NaN stays NaN";
}

}  // namespace
}  // namespace cloze::backend::reference
