#include "ops/layer_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backend/testing/run_kernel.h"

namespace cloze::backend::reference {
namespace {

using testing::apply_in_double;
using testing::floats;
using testing::Tensor;

const Tensor kRow = floats({1, 3}, {1.0, 2.0, 3.0});
const Tensor kGamma = floats({3}, {2.0, 1.0, 1.0});

TEST(LayerNorm, ThreeChannelsByHand) {
  const auto outputs = apply_in_double(ops::kLayerNorm, ops::LayerNormAttributes{0.0},
                                       {kRow, kGamma, floats({3}, {1.0, 0.5, 0.0})});
  const double rstd = std::sqrt(1.5);
  EXPECT_DOUBLE_EQ(outputs[0].values[0], 1.0 - 2.0 * rstd);
  EXPECT_DOUBLE_EQ(outputs[0].values[1], 0.5);
  EXPECT_DOUBLE_EQ(outputs[0].values[2], rstd);
  EXPECT_DOUBLE_EQ(outputs[1].values[0], 2.0);
  EXPECT_DOUBLE_EQ(outputs[2].values[0], rstd);
}

TEST(LayerNorm, EpsilonIsAddedToTheVariance) {
  const auto outputs = apply_in_double(ops::kLayerNorm, ops::LayerNormAttributes{1.0 / 3.0},
                                       {kRow, kGamma, floats({3}, {0.0, 0.0, 0.0})});
  EXPECT_DOUBLE_EQ(outputs[2].values[0], 1.0);
}

// With dy = gamma = 1 the loss is the sum of the normalised row, which is always 0.
TEST(LayerNorm, ConstantGradientDoesNotReachTheInput) {
  const Tensor ones = floats({1, 3}, {1.0, 1.0, 1.0});
  const auto gradients = apply_in_double(
      ops::kLayerNormGradient, {},
      {ones, kRow, floats({3}, {1.0, 1.0, 1.0}), floats({1}, {2.0}), floats({1}, {1.0})});
  for (const double dx : gradients[0].values) EXPECT_DOUBLE_EQ(dx, 0.0);
  EXPECT_EQ(gradients[1].values, (std::vector<double>{-1.0, 0.0, 1.0}));
  EXPECT_EQ(gradients[2].values, (std::vector<double>{1.0, 1.0, 1.0}));
}

}  // namespace
}  // namespace cloze::backend::reference
