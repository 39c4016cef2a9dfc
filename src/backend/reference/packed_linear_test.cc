#include "ops/packed_linear.h"

#include <gtest/gtest.h>

#include "backend/reference/activation.h"
#include "backend/testing/run_kernel.h"

namespace cloze::backend::reference {
namespace {

using testing::apply_in_double;
using testing::floats;
using testing::Tensor;

const Tensor kX = floats({1, 2}, {1.0, 2.0});
const Tensor kWeight = floats({3, 2}, {3.0, 4.0, 5.0, 6.0, 7.0, 8.0});
const Tensor kBias = floats({3}, {0.5, 0.0, -1.0});

TEST(PackWeight, PanelsByHand) {
  const auto packed = apply_in_double(ops::kPackWeight, ops::PackWeightAttributes{2}, {kWeight})[0];
  EXPECT_EQ(packed.type.shape, (Shape{2, 2, 2}));
  EXPECT_EQ(packed.values, (std::vector<double>{3.0, 5.0, 4.0, 6.0, 7.0, 0.0, 8.0, 0.0}));
}

TEST(PackedLinear, IsLinearOfThePackedWeight) {
  for (const int64_t columns : {1, 2, 3, 16}) {
    const ops::PackWeightAttributes pack{columns};
    const Tensor packed = apply_in_double(ops::kPackWeight, pack, {kWeight})[0];
    const auto y =
        apply_in_double(ops::kPackedLinear, ops::PackedLinearAttributes{3}, {kX, packed, kBias})[0];
    EXPECT_EQ(y.values, (std::vector<double>{11.5, 17.0, 22.0})) << columns;
  }
}

// Panels of one column: each block is one number.
TEST(PackWeight, BlocksForStrassenByHand) {
  const Tensor weight = floats({2, 2}, {1.0, 20.0, 300.0, 4000.0});  // [output, input]
  const ops::PackWeightAttributes pack{.panel_columns = 1, .strassen = true};
  const auto packed = apply_in_double(ops::kPackWeight, pack, {weight})[0];
  EXPECT_EQ(packed.type.shape, (Shape{7, 1, 1, 1}));
  EXPECT_EQ(packed.values,
            (std::vector<double>{4001.0, 1.0, -3700.0, 19.0, 4000.0, 301.0, 4020.0}));
}

TEST(PackedLinear, IsLinearOfTheBlocks) {
  const Tensor weight = floats(
      {4, 4}, {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0});
  const Tensor x = floats({1, 4}, {1.0, 10.0, 100.0, 1000.0});
  for (const int64_t columns : {1, 2}) {
    const ops::PackWeightAttributes pack{.panel_columns = columns, .strassen = true};
    const Tensor packed = apply_in_double(ops::kPackWeight, pack, {weight})[0];
    const auto y =
        apply_in_double(ops::kPackedLinear, ops::PackedLinearAttributes{4}, {x, packed})[0];
    EXPECT_EQ(y.values, (std::vector<double>{4321.0, 8765.0, 3219.0, 7654.0})) << columns;
  }
}

TEST(PackedLinear, ActivatesTheSum) {
  const ops::GeluForm form = ops::GeluForm::kTanh;
  const Tensor packed = floats({1, 2, 1}, {0.5, -0.75});
  const auto y =
      apply_in_double(ops::kPackedLinear, ops::PackedLinearAttributes{1, form}, {kX, packed})[0];
  EXPECT_DOUBLE_EQ(y.values[0], gelu_value(form, -1.0));
}

}  // namespace
}  // namespace cloze::backend::reference
