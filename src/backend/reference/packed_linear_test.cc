#include "ops/packed_linear.h"

#include <gtest/gtest.h>

#include "backend/reference/elementwise.h"
#include "backend/testing/run_kernel.h"
#include "base/error.h"

namespace cloze::backend::reference {
namespace {

using testing::apply_in_double;
using testing::floats;
using testing::Tensor;

// In panels of so many columns, and in pairs.
constexpr ops::WeightLayout panels(int64_t columns) { return {.columns = columns}; }
constexpr ops::WeightLayout kPairs{.columns = 64, .depth = 32, .neighbours = 2};

const Tensor kX = floats({1, 2}, {1.0, 2.0});
const Tensor kWeight = floats({3, 2}, {3.0, 4.0, 5.0, 6.0, 7.0, 8.0});
const Tensor kBias = floats({3}, {0.5, 0.0, -1.0});

TEST(PackWeight, PanelsByHand) {
  const auto packed =
      apply_in_double(ops::kPackWeight, ops::PackWeightAttributes{panels(2)}, {kWeight})[0];
  EXPECT_EQ(packed.type.shape, (Shape{2, 2, 2}));
  EXPECT_EQ(packed.values, (std::vector<double>{3.0, 5.0, 4.0, 6.0, 7.0, 0.0, 8.0, 0.0}));
}

TEST(PackedLinear, IsLinearOfThePackedWeight) {
  for (const int64_t columns : {1, 2, 3, 16}) {
    const ops::PackWeightAttributes pack{panels(columns)};
    const Tensor packed = apply_in_double(ops::kPackWeight, pack, {kWeight})[0];
    const auto y =
        apply_in_double(ops::kPackedLinear, ops::PackedLinearAttributes{3, panels(columns)},
                        {kX, packed, kBias})[0];
    EXPECT_EQ(y.values, (std::vector<double>{11.5, 17.0, 22.0})) << columns;
  }
}

TEST(PackedLinear, SeveralWeightsGiveSeveralProducts) {
  const ops::PackWeightAttributes pack{panels(2)};
  const Tensor other = floats({3, 2}, {1.0, 0.0, 0.0, 1.0, 1.0, 1.0});
  const Tensor packed = apply_in_double(ops::kPackWeight, pack, {kWeight})[0];
  const Tensor packed_other = apply_in_double(ops::kPackWeight, pack, {other})[0];
  const ops::PackedLinearAttributes two{.outputs = 3, .layout = panels(2), .num_weights = 2};
  auto y = apply_in_double(ops::kPackedLinear, two, {kX, packed, packed_other});
  EXPECT_EQ(y[0].values, (std::vector<double>{11.0, 17.0, 23.0}));
  EXPECT_EQ(y[1].values, (std::vector<double>{1.0, 2.0, 3.0}));
  const Tensor zeros = floats({3}, {0.0, 0.0, 0.0});
  y = apply_in_double(ops::kPackedLinear, two, {kX, packed, packed_other, zeros, kBias});
  EXPECT_EQ(y[0].values, (std::vector<double>{11.0, 17.0, 23.0}));
  EXPECT_EQ(y[1].values, (std::vector<double>{1.5, 2.0, 2.0}));
}

TEST(PackedLinear, SomeOfItsBiasesAreRefused) {
  const Tensor packed =
      apply_in_double(ops::kPackWeight, ops::PackWeightAttributes{panels(2)}, {kWeight})[0];
  const ops::PackedLinearAttributes two{.outputs = 3, .layout = panels(2), .num_weights = 2};
  EXPECT_THROW(apply_in_double(ops::kPackedLinear, two, {kX, packed, packed, kBias}),
               InternalError);
}

// Blocks of two outputs by two inputs, one by one, of a weight [3, 3].
TEST(PackWeight, BlocksByHand) {
  const Tensor weight = floats({3, 3}, {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0});
  const ops::PackWeightAttributes pack{{.columns = 2, .depth = 2}};
  const auto packed = apply_in_double(ops::kPackWeight, pack, {weight})[0];
  EXPECT_EQ(packed.type.shape, (Shape{2, 2, 2, 2}));
  EXPECT_EQ(packed.values, (std::vector<double>{1.0, 4.0, 2.0, 5.0, 3.0, 6.0, 0.0, 0.0,  //
                                                7.0, 0.0, 8.0, 0.0, 9.0, 0.0, 0.0, 0.0}));
}

// Checks the first pair along the depth of both outputs, and then the start of their second pairs.
TEST(PackWeight, PairsByHand) {
  const Tensor weight = floats({2, 3}, {1.0, 2.0, 3.0, 4.0, 5.0, 6.0});
  const auto packed =
      apply_in_double(ops::kPackWeight, ops::PackWeightAttributes{kPairs}, {weight})[0];
  EXPECT_EQ(packed.type.shape, (Shape{1, 1, 16, 64, 2}));
  std::vector<double> expected(16 * 64 * 2);
  expected[0] = 1.0;
  expected[1] = 2.0;
  expected[2] = 4.0;
  expected[3] = 5.0;
  expected[128] = 3.0;
  expected[130] = 6.0;
  EXPECT_EQ(packed.values, expected);
}

TEST(PackedLinear, IsLinearOfThePairs) {
  // Across the borders of a block: 65 outputs, 33 inputs.
  Tensor weight = testing::zeros({DType::kF32, {65, 33}});
  weight.values[64 * 33 + 31] = 2.0;
  weight.values[64 * 33 + 32] = 3.0;
  weight.values[63 * 33 + 32] = 5.0;
  Tensor x = testing::zeros({DType::kF32, {1, 33}});
  x.values[31] = 10.0;
  x.values[32] = 100.0;
  const Tensor packed =
      apply_in_double(ops::kPackWeight, ops::PackWeightAttributes{kPairs}, {weight})[0];
  EXPECT_EQ(packed.type.shape, (Shape{2, 2, 16, 64, 2}));
  const auto y =
      apply_in_double(ops::kPackedLinear, ops::PackedLinearAttributes{65, kPairs}, {x, packed})[0];
  std::vector<double> expected(65);
  expected[63] = 500.0;
  expected[64] = 320.0;
  EXPECT_EQ(y.values, expected);
}

TEST(PackedLinear, ActivatesTheSum) {
  const ops::GeluForm form = ops::GeluForm::kTanh;
  const Tensor packed = floats({1, 2}, {0.5, -0.75});
  const auto y = apply_in_double(ops::kPackedLinear,
                                 ops::PackedLinearAttributes{1, panels(1), form}, {kX, packed})[0];
  EXPECT_DOUBLE_EQ(y.values[0], gelu_value(form, -1.0));
}

}  // namespace
}  // namespace cloze::backend::reference
