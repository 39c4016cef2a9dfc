#include "tasks/labelled/class_scores.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/philox.h"

namespace cloze::tasks {
namespace {

// Figures of scikit-learn 1.5, classification_report and matthews_corrcoef.
TEST(ClassScoresTest, KnownFigures) {
  const std::vector<ClassPrediction> rows{{0, 0, 0.9}, {0, 1, 0.6}, {1, 1, 0.8},
                                          {2, 2, 0.7}, {2, 1, 0.5}, {2, 2, 1.0}};
  const ClassScores scores = score_classes(rows, 4);
  EXPECT_NEAR(scores.accuracy, 4.0 / 6, 1e-12);
  EXPECT_NEAR(scores.classes[1].precision, 1.0 / 3, 1e-12);
  EXPECT_NEAR(scores.classes[1].recall, 1.0, 1e-12);
  EXPECT_NEAR(scores.classes[1].f1, 0.5, 1e-12);
  EXPECT_NEAR(scores.macro.f1, (2.0 / 3 + 0.5 + 0.8) / 3, 1e-12);  // class 3 occurs nowhere
  EXPECT_NEAR(scores.weighted.f1, (2 * 2.0 / 3 + 0.5 + 3 * 0.8) / 6, 1e-12);
  EXPECT_EQ(scores.confusion[2], (std::vector<int64_t>{0, 1, 2, 0}));
}

// The bins of 15: 0.9 and 0.9 share one, (13/15, 14/15].
TEST(ClassScoresTest, CalibrationError) {
  const std::vector<ClassPrediction> rows{{0, 0, 0.9}, {0, 1, 0.9}, {1, 1, 0.5}, {1, 1, 1.0}};
  EXPECT_NEAR(score_classes(rows, 2).calibration_error, (0.8 + 0.5 + 0.0) / 4, 1e-12);
}

// The definitions, word by word, on random rows.
TEST(ClassScoresTest, AreTheDefinitions) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    PhiloxStream random(seed, 0);
    const int64_t classes = 2 + random.below(6);
    std::vector<ClassPrediction> rows(1 + random.below(40));
    for (ClassPrediction& row : rows) {
      row = {.label = random.below(static_cast<uint32_t>(classes)),
             .predicted = random.below(1 + random.below(static_cast<uint32_t>(classes))),
             .probability = random.uniform()};
    }
    const ClassScores scores = score_classes(rows, classes);
    double macro = 0, weighted = 0, present = 0;
    for (int64_t c = 0; c < classes; ++c) {
      double both = 0, labels = 0, predicted = 0;
      for (const ClassPrediction& row : rows) {
        both += row.label == c && row.predicted == c;
        labels += row.label == c;
        predicted += row.predicted == c;
      }
      const double precision = predicted == 0 ? 0 : both / predicted;
      const double recall = labels == 0 ? 0 : both / labels;
      const double f1 = precision + recall == 0 ? 0 : 2 * precision * recall / (precision + recall);
      const PrecisionRecall& one = scores.classes[static_cast<size_t>(c)];
      ASSERT_NEAR(one.precision, precision, 1e-12);
      ASSERT_NEAR(one.recall, recall, 1e-12);
      ASSERT_NEAR(one.f1, f1, 1e-12);
      present += labels + predicted > 0;
      macro += f1;
      weighted += f1 * labels / static_cast<double>(rows.size());
    }
    ASSERT_NEAR(scores.macro.f1, macro / present, 1e-12) << seed;
    ASSERT_NEAR(scores.weighted.f1, weighted, 1e-12) << seed;
  }
}

}  // namespace
}  // namespace cloze::tasks
