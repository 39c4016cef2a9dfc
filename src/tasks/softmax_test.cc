#include "tasks/logits.h"

#include <gtest/gtest.h>

namespace cloze::tasks {
namespace {

TEST(Softmax, OfLargeLogitsIsFinite) {
  const std::vector<float> logits{1000.0f, 1000.0f, 999.0f};
  const std::vector<double> shares = softmax(std::span<const float>(logits));
  const double e = std::exp(-1.0);
  EXPECT_NEAR(shares[0], 1.0 / (2.0 + e), 1e-12);
  EXPECT_NEAR(shares[2], e / (2.0 + e), 1e-12);
}

}  // namespace
}  // namespace cloze::tasks
