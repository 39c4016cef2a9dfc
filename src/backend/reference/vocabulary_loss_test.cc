#include "ops/vocabulary_loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backend/testing/run_kernel.h"

namespace cloze::backend::reference {
namespace {

using testing::apply_in_double;
using testing::floats;
using testing::integers;
using testing::Tensor;

const Tensor kHalf = floats({1}, {0.5});
const Tensor kX = floats({3, 1}, {0.0, 1.0, 9.0});
const Tensor kTable = floats({2, 1}, {0.0, 0.0});
const Tensor kLabels = integers({3}, {0, 1, -1});

// Equal logits: probability 1/2 each, and the first of the two counts as the answer.
TEST(VocabularyLoss, EqualLogits) {
  const auto outputs = apply_in_double(ops::kVocabularyLoss, {}, {kX, kTable, kLabels, kHalf});
  EXPECT_DOUBLE_EQ(outputs[0].values[0], 0.5 * 2.0 * std::log(2.0));
  EXPECT_DOUBLE_EQ(outputs[1].values[0], 1.0);
}

TEST(VocabularyLoss, GradientByHand) {
  const Tensor bias = floats({2}, {0.0, 0.0});
  const auto gradients = apply_in_double(ops::kVocabularyLossGradient, {},
                                         {floats({1}, {2.0}), kX, kTable, kLabels, kHalf, bias});
  EXPECT_EQ(gradients[0].values, (std::vector<double>{0.0, 0.0, 0.0}));  // the table is zero
  EXPECT_DOUBLE_EQ(gradients[1].values[0], 0.5);                         // row 1 has x = 1
  EXPECT_DOUBLE_EQ(gradients[1].values[1], -0.5);
  EXPECT_DOUBLE_EQ(gradients[2].values[0], 0.0);  // -1/2 and +1/2
}

TEST(VocabularyLoss, BothInOneAreThePair) {
  const Tensor table = floats({2, 1}, {0.5, -1.5});
  const Tensor dloss = floats({1}, {1.0});
  const auto loss = apply_in_double(ops::kVocabularyLoss, {}, {kX, table, kLabels, kHalf});
  const auto gradient =
      apply_in_double(ops::kVocabularyLossGradient, {}, {dloss, kX, table, kLabels, kHalf});
  const auto both =
      apply_in_double(ops::kVocabularyLossWithGradient, {}, {dloss, kX, table, kLabels, kHalf});
  ASSERT_EQ(both.size(), 4u);
  EXPECT_EQ(both[0].values, loss[0].values);
  EXPECT_EQ(both[1].values, loss[1].values);
  EXPECT_EQ(both[2].values, gradient[0].values);
  EXPECT_EQ(both[3].values, gradient[1].values);
}

}  // namespace
}  // namespace cloze::backend::reference
