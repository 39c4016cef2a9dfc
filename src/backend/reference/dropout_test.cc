#include "ops/dropout.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backend/testing/run_kernel.h"
#include "backend/testing/tolerance.h"
#include "ops/dropout_add_layer_norm.h"
#include "ops/dropout_mask.h"

namespace cloze::backend::reference {
namespace {

using testing::apply_in_double;
using testing::floats;
using testing::integers;
using testing::Tensor;

constexpr int64_t kRows = 40;
constexpr int64_t kChannels = 250;
constexpr double kRate = 0.1;

Tensor ones() { return floats({kRows, kChannels}, std::vector<double>(kRows * kChannels, 1.0)); }

// sample_ids, position_ids and random_key of rows 0, 1, 2, ... starting at `first`, cyclic.
std::vector<Tensor> with_random_inputs(Tensor x, int64_t first, double seed = 42.0) {
  std::vector<double> samples, positions;
  for (int64_t t = 0; t < kRows; ++t) {
    const int64_t row = (t + first) % kRows;
    samples.push_back(static_cast<double>(row / 8));
    positions.push_back(static_cast<double>(row % 8));
  }
  return {std::move(x), integers({kRows}, samples), integers({kRows}, positions),
          integers({2}, {seed, 3.0})};
}

std::vector<double> drop(const std::vector<Tensor>& inputs) {
  return apply_in_double(ops::kDropout, ops::DropoutAttributes{kRate, 1}, inputs)[0].values;
}

TEST(Dropout, KeepsTheMean) {
  double kept = 0.0;
  for (const double y : drop(with_random_inputs(ones(), 0))) {
    EXPECT_TRUE(y == 0.0 || y == ops::dropout_scale(kRate)) << y;
    if (y != 0.0) kept += 1.0;
  }
  const double elements = kRows * kChannels;
  const double deviation = std::sqrt(elements * kRate * (1.0 - kRate));
  EXPECT_NEAR(kept, elements * (1.0 - kRate), 4.0 * deviation);
}

TEST(Dropout, BelongsToSampleAndPositionNotToTheSlot) {
  const std::vector<double> straight = drop(with_random_inputs(ones(), 0));
  std::vector<double> turned = drop(with_random_inputs(ones(), 5));
  std::rotate(turned.begin(), turned.end() - 5 * kChannels, turned.end());
  EXPECT_EQ(straight, turned);
  EXPECT_NE(straight, drop(with_random_inputs(ones(), 0, 43.0)));
}

TEST(DropoutAddLayerNorm, AddsTheDroppedInputToTheResidual) {
  const std::vector<Tensor> random = with_random_inputs(ones(), 0);
  Tensor residual = ones();
  for (size_t i = 0; i < residual.values.size(); ++i) residual.values[i] = 0.5 * (i % 7);
  const Tensor gamma = floats({kChannels}, std::vector<double>(kChannels, 1.0));
  const Tensor beta = testing::zeros(gamma.type);
  const auto outputs = apply_in_double(
      ops::kDropoutAddLayerNorm, ops::DropoutAddLayerNormAttributes{.rate = kRate, .site = 1},
      {random[0], residual, gamma, beta, random[1], random[2], random[3]});
  const std::vector<double> dropped = drop(random);
  for (size_t i = 0; i < dropped.size(); ++i) {
    ASSERT_DOUBLE_EQ(outputs[1].values[i], residual.values[i] + dropped[i]);
    const double mean = outputs[2].values[i / kChannels];
    const double rstd = outputs[3].values[i / kChannels];
    ASSERT_DOUBLE_EQ(outputs[0].values[i], (outputs[1].values[i] - mean) * rstd);
  }
}

}  // namespace
}  // namespace cloze::backend::reference
