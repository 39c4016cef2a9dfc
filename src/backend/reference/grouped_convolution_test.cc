#include "ops/grouped_convolution.h"

#include <gtest/gtest.h>

#include "backend/testing/run_kernel.h"

namespace cloze::backend::reference {
namespace {

using testing::apply_in_double;
using testing::floats;
using testing::integers;
using testing::Tensor;

// Two groups of one channel, a window of three slots.
const Tensor kWeight = floats({2, 1, 3}, {1, 10, 100, 2, 20, 200});

std::vector<double> convolve(const Tensor& x, const std::vector<double>& starts) {
  return apply_in_double(ops::kGroupedConvolution, {},
                         {x, kWeight, integers({static_cast<int64_t>(starts.size())}, starts)})[0]
      .values;
}

TEST(GroupedConvolution, WindowByHand) {
  const Tensor x = floats({3, 2}, {1, 1, 2, 0, 3, 5});
  EXPECT_EQ(convolve(x, {0, 3}), (std::vector<double>{210, 20, 321, 1002, 32, 100}));
}

TEST(GroupedConvolution, ChannelsMeetThoseOfTheirGroup) {
  const Tensor x = floats({1, 4}, {1, 2, 3, 4});
  const Tensor weight = floats({4, 2, 1}, {1, 10, 2, 20, 3, 30, 4, 40});
  const Tensor bias = floats({4}, {0.5, 0, 0, -1});
  const auto y =
      apply_in_double(ops::kGroupedConvolution, {}, {x, weight, integers({2}, {0, 1}), bias})[0];
  EXPECT_EQ(y.values, (std::vector<double>{21.5, 42, 129, 171}));
}

// The results of a sequence do not depend on what is in other sequences or after the last one.
TEST(GroupedConvolution, NeverReadsAcrossABorder) {
  const Tensor x = floats({5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 9});
  const std::vector<double> starts{0, 2, 2, 4};
  const std::vector<double> y = convolve(x, starts);
  EXPECT_EQ(y[8], 0.0);
  EXPECT_EQ(y[9], 0.0);
  for (size_t changed = 0; changed < x.values.size(); ++changed) {
    Tensor other = x;
    other.values[changed] += 1.0;
    const std::vector<double> z = convolve(other, starts);
    for (size_t i = 0; i < y.size(); ++i) {
      const bool same_channel = changed % 2 == i % 2;
      const bool same_sequence = changed / 4 == i / 4 && changed < 8;
      EXPECT_EQ(z[i] != y[i], same_channel && same_sequence) << changed << " changes " << i;
    }
  }
}

TEST(GroupedConvolution, GradientsByHand) {
  const Tensor dy = floats({4, 2}, {1, 0, 2, 1, 3, 0, 4, 2});
  const Tensor x = floats({4, 2}, {1, 1, 2, 2, 3, 3, 9, 9});
  const Tensor starts = integers({3}, {0, 2, 3});
  const auto dx =
      apply_in_double(ops::kGroupedConvolutionInputGradient, {}, {dy, kWeight, starts})[0];
  EXPECT_EQ(dx.values, (std::vector<double>{12, 2, 120, 20, 30, 0, 0, 0}));
  const auto gradients =
      apply_in_double(ops::kGroupedConvolutionWeightGradient,
                      ops::GroupedConvolutionWeightGradientAttributes{1, 3, true}, {dy, x, starts});
  EXPECT_EQ(gradients[0].values, (std::vector<double>{2, 14, 2, 1, 2, 0}));
  EXPECT_EQ(gradients[1].values, (std::vector<double>{6, 1}));
}

}  // namespace
}  // namespace cloze::backend::reference
