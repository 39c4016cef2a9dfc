#include "train/watch/step_watch.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cloze::train {
namespace {

double loss_of(int64_t i) { return 2.0 + 0.1 * std::sin(static_cast<double>(i)); }

TEST(LossStatistics, AreMeanAndVarianceOfAllWhileTheyAreFew) {
  LossStatistics statistics;
  double sum = 0.0, squares = 0.0;
  for (int64_t i = 0; i < 100; ++i) {
    statistics.take(loss_of(i));
    sum += loss_of(i);
    squares += loss_of(i) * loss_of(i);
    const double mean = sum / static_cast<double>(i + 1);
    EXPECT_NEAR(statistics.mean, mean, 1e-12);
    EXPECT_NEAR(statistics.variance, squares / static_cast<double>(i + 1) - mean * mean, 1e-12);
    EXPECT_EQ(std::isinf(statistics.limit()), i + 1 < 64) << i;
  }
  EXPECT_NEAR(statistics.limit(), 2.0 + 6 * 0.1 * std::sqrt(0.5), 0.02);
}

TEST(LossStatistics, ForgetWhatIsLongAgo) {
  LossStatistics statistics;
  for (int i = 0; i < 128; ++i) statistics.take(9.0);
  for (int i = 0; i < 3000; ++i) statistics.take(loss_of(i));
  EXPECT_NEAR(statistics.mean, 2.0, 0.02);
  EXPECT_NEAR(statistics.variance, 0.005, 0.001);
}

TEST(LossStatistics, ASpikeDoesNotHideTheNext) {
  LossStatistics statistics;
  for (int i = 0; i < 500; ++i) statistics.take(loss_of(i));
  const double limit = statistics.limit();
  for (int i = 0; i < 5; ++i) statistics.take(1e6);
  EXPECT_LT(statistics.limit(), 2.0 + 2.0 * (limit - 2.0));
  // A loss that stays higher is in the end an ordinary one.
  for (int i = 0; i < 1000; ++i) statistics.take(4.0);
  EXPECT_LT(4.0, statistics.limit() + 1e-9);
}

TEST(WatchPolicy, HasNames) {
  for (const std::string& name : watch_policy_names()) {
    EXPECT_EQ(watch_policy_name(watch_policy_named(name)), name);
  }
  EXPECT_EQ(watch_policy_named("roll_back"), WatchPolicy::kRollBack);
  EXPECT_EQ(watch_policy_names(WatchPolicy::kSkip),
            (std::vector<std::string>{"skip", "roll_back", "stop"}));
}

}  // namespace
}  // namespace cloze::train
