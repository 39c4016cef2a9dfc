#include "backend/reference/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "backend/reference/backend.h"
#include "backend/testing/run_kernel.h"
#include "ops/elementwise.h"
#include "ops/gated_linear_unit.h"
#include "ops/swish.h"
#include "ops/tanh.h"

namespace cloze::backend::reference {
namespace {

using testing::apply_in_double;
using testing::floats;
using testing::Tensor;

std::vector<double> run(const KernelRequest& request, const std::vector<Tensor>& inputs,
                        const std::vector<Tensor>& initial_outputs) {
  const auto kernel = backend().kernels(*request.op).front().create(request);
  return testing::run_kernel(*kernel, request, inputs, initial_outputs).results[0].values;
}

TEST(Elementwise, AccumulateAddsToWhatIsThere) {
  const Tensor x = floats({2}, {1.5, 2.0});
  KernelRequest request{
      .op = &ops::kAccumulate, .inputs = {x.type}, .outputs = {x.type}, .accumulates = {true}};
  EXPECT_EQ(run(request, {x}, {floats({2}, {10.0, 20.0})}), (std::vector<double>{11.5, 22.0}));
  request.accumulates = {false};
  EXPECT_EQ(run(request, {x}, {x}), x.values);
}

TEST(Elementwise, GeluOfOneIsTheNormalDistribution) {
  EXPECT_DOUBLE_EQ(gelu_value(ops::GeluForm::kErf, 1.0), 0.8413447460685429);
  EXPECT_DOUBLE_EQ(gelu_value(ops::GeluForm::kErf, -1.0), -0.15865525393145707);
  EXPECT_DOUBLE_EQ(gelu_value(ops::GeluForm::kErf, 0.0), 0.0);
  EXPECT_DOUBLE_EQ(gelu_slope(ops::GeluForm::kErf, 1.0), 0.8413447460685429 + 0.24197072451914337);
}

TEST(Elementwise, TanhFormIsNearTheExactOne) {
  const double inner = std::sqrt(2.0 / std::numbers::pi) * 1.044715;
  EXPECT_DOUBLE_EQ(gelu_value(ops::GeluForm::kTanh, 1.0), 0.5 * (1.0 + std::tanh(inner)));
  EXPECT_DOUBLE_EQ(gelu_slope(ops::GeluForm::kTanh, 0.0), 0.5);
  EXPECT_NE(gelu_value(ops::GeluForm::kTanh, 1.0), gelu_value(ops::GeluForm::kErf, 1.0));
}

TEST(Elementwise, GradientsMultiplyByTheSlope) {
  const auto dx = apply_in_double(ops::kGeluGradient, ops::GeluAttributes{ops::GeluForm::kErf},
                                  {floats({2}, {3.0, -2.0}), floats({2}, {1.0, 0.0})})[0];
  EXPECT_DOUBLE_EQ(dx.values[0], 3.0 * gelu_slope(ops::GeluForm::kErf, 1.0));
  EXPECT_DOUBLE_EQ(dx.values[1], -1.0);
  const auto through_tanh = apply_in_double(ops::kTanhGradient, {},
                                            {floats({2}, {3.0, 5.0}), floats({2}, {0.5, 1.0})})[0];
  EXPECT_DOUBLE_EQ(through_tanh.values[0], 2.25);
  EXPECT_DOUBLE_EQ(through_tanh.values[1], 0.0);
}

// The logistic function of ln 3 is 3/4, and its slope 3/16.
TEST(Elementwise, SwishAndGatesByHand) {
  const double x = std::log(3.0);
  const testing::Tensor at = {{DType::kF32, {1}}, {x}};
  const testing::Tensor two = floats({1}, {2.0});
  EXPECT_DOUBLE_EQ(apply_in_double(ops::kSwish, {}, {at})[0].values[0], 0.75 * x);
  EXPECT_DOUBLE_EQ(apply_in_double(ops::kSwishGradient, {}, {two, at})[0].values[0],
                   1.5 + 0.375 * x);
  const testing::Tensor gates_and_values = {{DType::kF32, {1, 4}}, {x, 0.0, 2.0, 6.0}};
  const auto y = apply_in_double(ops::kGatedLinearUnit, {}, {gates_and_values})[0];
  EXPECT_DOUBLE_EQ(y.values[0], 1.5);
  EXPECT_DOUBLE_EQ(y.values[1], 3.0);
  const auto dx = apply_in_double(ops::kGatedLinearUnitGradient, {},
                                  {floats({1, 2}, {5.0, 1.0}), gates_and_values})[0];
  EXPECT_DOUBLE_EQ(dx.values[0], 1.875);
  EXPECT_DOUBLE_EQ(dx.values[1], 1.5);
  EXPECT_DOUBLE_EQ(dx.values[2], 3.75);
  EXPECT_DOUBLE_EQ(dx.values[3], 0.5);
}

TEST(ReferenceBackend, SaysWhyItCannotServe) {
  const graph::TensorType f16{DType::kF16, {2}};
  const graph::TensorType bf16{DType::kBF16, {2}};
  const KernelRequest request{.op = &ops::kAdd, .inputs = {f16, bf16}, .outputs = {f16}};
  EXPECT_EQ(backend().kernels(ops::kAdd).front().refuse(request),
            "serves f32, bf16 or f16 beside f32, or f64 throughout");
}

}  // namespace
}  // namespace cloze::backend::reference
