#include "ops/grouped_linear.h"

#include <gtest/gtest.h>

#include "backend/testing/run_kernel.h"
#include "ops/linear.h"

namespace cloze::backend::reference {
namespace {

using testing::apply_in_double;
using testing::floats;
using testing::Tensor;

constexpr int64_t kGroups = 2;
const Tensor kX = floats({2, 4}, {1, 2, 3, 4, -1, 5, 0, 2});
const Tensor kWeight = floats({6, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
const Tensor kBias = floats({6}, {1, 0, -1, 2, 0, 5});
const Tensor kDy = floats({2, 6}, {1, 0, 2, -1, 3, 1, 2, 2, 1, 0, -3, 4});

// The equivalent weight of a plain linear: zeros outside the blocks.
Tensor whole_weight() {
  Tensor whole = testing::zeros({DType::kF32, {6, 4}});
  for (size_t n = 0; n < 6; ++n) {
    for (size_t k = 0; k < 2; ++k) {
      whole.values[n * 4 + n / 3 * 2 + k] = kWeight.values[n * 2 + k];
    }
  }
  return whole;
}

TEST(GroupedLinear, IsLinearWithABlockDiagonalWeight) {
  const auto y = apply_in_double(ops::kGroupedLinear, ops::GroupedLinearAttributes{kGroups},
                                 {kX, kWeight, kBias})[0];
  const auto whole =
      apply_in_double(ops::kLinear, ops::LinearAttributes{}, {kX, whole_weight(), kBias})[0];
  EXPECT_EQ(y.values, whole.values);
  EXPECT_EQ(y.values[0], 1.0 + 1.0 * 1.0 + 2.0 * 2.0);
  EXPECT_EQ(y.values[5], 5.0 + 11.0 * 3.0 + 12.0 * 4.0);
}

TEST(GroupedLinear, GradientsAreThoseOfTheBlocks) {
  const auto dx = apply_in_double(ops::kGroupedLinearInputGradient,
                                  ops::GroupedLinearAttributes{kGroups}, {kDy, kWeight})[0];
  const auto whole = apply_in_double(ops::kLinearInputGradient, {}, {kDy, whole_weight()})[0];
  EXPECT_EQ(dx.values, whole.values);

  const auto gradients =
      apply_in_double(ops::kGroupedLinearWeightGradient,
                      ops::GroupedLinearWeightGradientAttributes{kGroups, true}, {kDy, kX});
  const auto whole_gradients = apply_in_double(
      ops::kLinearWeightGradient, ops::LinearWeightGradientAttributes{true}, {kDy, kX});
  for (size_t n = 0; n < 6; ++n) {
    for (size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(gradients[0].values[n * 2 + k], whole_gradients[0].values[n * 4 + n / 3 * 2 + k]);
    }
  }
  EXPECT_EQ(gradients[1].values, whole_gradients[1].values);
}

}  // namespace
}  // namespace cloze::backend::reference
