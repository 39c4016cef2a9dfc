#include "ops/linear.h"

#include <gtest/gtest.h>

#include "backend/reference/elementwise.h"
#include "backend/testing/run_kernel.h"

namespace cloze::backend::reference {
namespace {

using testing::apply_in_double;
using testing::floats;
using testing::Tensor;

const Tensor kX = floats({1, 2}, {1.0, 2.0});
const Tensor kWeight = floats({3, 2}, {3.0, 4.0, 5.0, 6.0, 7.0, 8.0});
const Tensor kBias = floats({3}, {0.5, 0.0, -1.0});
const Tensor kDy = floats({1, 3}, {1.0, 0.0, 2.0});

TEST(Linear, ProductAndBiasByHand) {
  const auto y = apply_in_double(ops::kLinear, ops::LinearAttributes{}, {kX, kWeight, kBias})[0];
  EXPECT_EQ(y.values, (std::vector<double>{11.5, 17.0, 22.0}));
}

TEST(Linear, ActivationKeepsTheProduct) {
  const ops::GeluForm form = ops::GeluForm::kTanh;
  const Tensor weight = floats({1, 2}, {0.5, -0.75});
  const auto outputs = apply_in_double(ops::kLinear, ops::LinearAttributes{form}, {kX, weight});
  EXPECT_DOUBLE_EQ(outputs[1].values[0], -1.0);
  EXPECT_DOUBLE_EQ(outputs[0].values[0], gelu_value(form, -1.0));
}

TEST(Linear, GradientsByHand) {
  const auto dx = apply_in_double(ops::kLinearInputGradient, {}, {kDy, kWeight})[0];
  EXPECT_EQ(dx.values, (std::vector<double>{17.0, 20.0}));
  const auto gradients = apply_in_double(ops::kLinearWeightGradient,
                                         ops::LinearWeightGradientAttributes{true}, {kDy, kX});
  EXPECT_EQ(gradients[0].values, (std::vector<double>{1.0, 2.0, 0.0, 0.0, 2.0, 4.0}));
  EXPECT_EQ(gradients[1].values, kDy.values);
}

TEST(Linear, WeightGradientIsAddedWhereAsked) {
  const KernelRequest request{.op = &ops::kLinearWeightGradient,
                              .inputs = {kDy.type, kX.type},
                              .outputs = {kWeight.type, kBias.type},
                              .accumulates = {true, false},
                              .attributes = ops::LinearWeightGradientAttributes{true}};
  const auto sums = testing::run_reference_in_double(request, {kDy, kX}, {kWeight, kBias});
  EXPECT_EQ(sums[0].values, (std::vector<double>{4.0, 6.0, 5.0, 6.0, 9.0, 12.0}));
  EXPECT_EQ(sums[1].values, kDy.values);
}

}  // namespace
}  // namespace cloze::backend::reference
