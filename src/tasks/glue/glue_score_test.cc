#include "tasks/glue/glue_score.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cloze::tasks {
namespace {

using enum GlueMetric;
using Values = std::vector<double>;

// Expected values were printed by scikit-learn and scipy; scripts/check_glue_scores compares many
// more.
TEST(GlueScoreTest, Classification) {
  const Values predictions{1, 0, 1, 1, 0, 0}, labels{1, 0, 0, 1, 1, 0};
  EXPECT_DOUBLE_EQ(glue_metric(kAccuracy, predictions, labels), 4.0 / 6);
  EXPECT_DOUBLE_EQ(glue_metric(kF1, predictions, labels), 2.0 / 3);
  EXPECT_DOUBLE_EQ(glue_metric(kMatthews, predictions, labels), 1.0 / 3);
  const Values three{2, 0, 1, 1, 0, 2}, others{1, 0, 0, 1, 1, 2};
  EXPECT_NEAR(glue_metric(kMatthews, three, others), 0.2611164839335468, 1e-15);
}

TEST(GlueScoreTest, Regression) {
  const Values predictions{1, 2, 2, 5, 4}, labels{0, 1, 3, 4, 5};
  EXPECT_NEAR(glue_metric(kPearson, predictions, labels), 0.8511025427814364, 1e-15);
  EXPECT_NEAR(glue_metric(kSpearman, predictions, labels), 0.8720815992723809, 1e-15);
}

TEST(GlueScoreTest, WhatIsUndefined) {
  const Values zeros{0, 0}, both{0, 1};
  EXPECT_EQ(glue_metric(kF1, zeros, zeros), 0);
  EXPECT_EQ(glue_metric(kMatthews, zeros, both), 0);
  // The mean of ten tenths is not a tenth.
  const std::vector<double> tenths(10, 0.1), ten{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (const auto metric : {kPearson, kSpearman}) {
    EXPECT_TRUE(std::isnan(glue_metric(metric, zeros, both)));
    EXPECT_TRUE(std::isnan(glue_metric(metric, tenths, ten)));
    EXPECT_TRUE(std::isnan(glue_metric(metric, ten, tenths)));
  }
}

TEST(GlueScoreTest, TheMetricsOfATask) {
  EXPECT_EQ(glue_scores_json(glue_task("mrpc"), Values{1, 0}, Values{1, 1}),
            "{\"accuracy\":0.5,\"f1\":0.6666666666666666}");
}

}  // namespace
}  // namespace cloze::tasks
