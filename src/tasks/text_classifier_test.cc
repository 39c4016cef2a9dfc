#include "tasks/text_classifier.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace cloze::tasks
