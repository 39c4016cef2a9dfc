#include "tasks/class_logits.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cloze::tasks {
namespace {

TEST(ClassLogits, TheFirstLargestIsPredicted) {
  const std::vector<std::vector<float>> logits{{0.5f, 2.0f, 2.0f}, {-1.0f, -2.0f, -3.0f}};
  EXPECT_EQ(class_predictions(logits), (std::vector<double>{1.0, 0.0}));
}

TEST(ClassLogits, ASingleLogitIsAScore) {
  EXPECT_EQ(class_predictions(std::vector<std::vector<float>>{{3.75f}, {-0.5f}}),
            (std::vector<double>{3.75, -0.5}));
}

TEST(ClassLogits, SoftmaxOfLargeLogitsIsFinite) {
  const std::vector<double> shares = softmax(std::vector<float>{1000.0f, 1000.0f, 999.0f});
  const double e = std::exp(-1.0);
  EXPECT_NEAR(shares[0], 1.0 / (2.0 + e), 1e-12);
  EXPECT_NEAR(shares[2], e / (2.0 + e), 1e-12);
}

}  // namespace
}  // namespace cloze::tasks
