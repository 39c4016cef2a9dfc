#include "train/watch/early_stopping.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace cloze::train {
namespace {

// How many evaluations there are before the run ends; 0: it does not.
size_t evaluations(const std::vector<double>& scores, const EarlyStoppingOptions& options) {
  EarlyStoppingState state;
  for (size_t i = 0; i < scores.size(); ++i) {
    state.take(scores[i], options);
    if (state.ends_run(options)) return i + 1;
  }
  return 0;
}

TEST(EarlyStopping, EndsAfterEvaluationsInARowWithoutGain) {
  const std::vector<double> scores = {0.5, 0.5, 0.6, 0.4, 0.6, 0.55, 0.7};
  EXPECT_EQ(evaluations(scores, {.patience = 0}), 0u);
  EXPECT_EQ(evaluations(scores, {.patience = 1}), 2u);
  EXPECT_EQ(evaluations(scores, {.patience = 2}), 5u);
  EXPECT_EQ(evaluations(scores, {.patience = 3}), 6u);
  EXPECT_EQ(evaluations(scores, {.patience = 4}), 0u);
}

TEST(EarlyStopping, SmallGainsAddUp) {
  const std::vector<double> scores = {0.5, 0.75, 1.0, 1.25, 1.5, 1.75};
  EXPECT_EQ(evaluations(scores, {.patience = 2, .min_gain = 0.4}), 0u);
  EXPECT_EQ(evaluations(scores, {.patience = 2, .min_gain = 0.5}), 3u) << "it has to be more";
  EXPECT_EQ(evaluations(scores, {.patience = 1, .min_gain = 0.4}), 2u);
}

TEST(EarlyStopping, AScoreThatIsNoNumberGainsNothing) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(evaluations({kNan, kNan}, {.patience = 2}), 2u);
  EXPECT_EQ(evaluations({0.5, kNan, 0.6, kNan, kNan}, {.patience = 2}), 5u);
  EXPECT_EQ(evaluations({kNan, -1.0, -0.5}, {.patience = 2}), 0u);
}

TEST(EarlyStopping, SaysWhy) {
  const EarlyStoppingState state{.gained = 0.8125, .without_gain = 3};
  EXPECT_EQ(state.reason({.patience = 3}), "none of the last 3 evaluations exceeds 0.8125");
  EXPECT_EQ(state.reason({.patience = 3, .min_gain = 0.01}),
            "none of the last 3 evaluations exceeds 0.8125 by more than 0.01");
  EXPECT_EQ(EarlyStoppingState({.gained = 0.5, .without_gain = 1}).reason({.patience = 1}),
            "the last evaluation does not exceed 0.5000");
  EXPECT_EQ(EarlyStoppingState({.without_gain = 2}).reason({.patience = 2}),
            "none of 2 evaluations gave a number");
}

}  // namespace
}  // namespace cloze::train
