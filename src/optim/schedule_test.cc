#include "optim/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace cloze::optim {
namespace {

TEST(Schedule, LinearWarmupAndDecay) {
  const Schedule schedule{.base_learning_rate = 6e-3, .warmup_steps = 2000, .total_steps = 7032};
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 0), 1e-7);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 1000), 3e-3);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 2000), 6e-3);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 2001), 6e-3 * 5030 / 5032);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 7031), 1e-7);
}

TEST(Schedule, TwoPowers) {
  const Schedule schedule{
      .base_learning_rate = 1.2e-2, .warmup_steps = 100, .total_steps = 1100, .powers = {0.5, 1.0}};
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 25), 6e-3);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 600), (1.2e-2 - 1e-7) * 0.5 + 1e-7);
}

TEST(Schedule, OnePowerOtherThanOneIsUsedTwice) {
  const Schedule schedule{
      .base_learning_rate = 1.0, .warmup_steps = 10, .total_steps = 110, .powers = {2.0}};
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 5), 0.25);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 60), (1.0 - 1e-7) * 0.25 + 1e-7);
}

TEST(Schedule, NoWarmupIsDefinedAtStepZero) {
  const Schedule one{.base_learning_rate = 1.0, .warmup_steps = 0, .total_steps = 10};
  EXPECT_DOUBLE_EQ(learning_rate(one, 0), 0.9);
  const Schedule two{
      .base_learning_rate = 1.0, .warmup_steps = 0, .total_steps = 10, .powers = {0.5, 2.0}};
  EXPECT_DOUBLE_EQ(learning_rate(two, 0), 1.0);
}

TEST(Schedule, StaysAtTheMinimumAfterTheEnd) {
  const Schedule all_warmup{.base_learning_rate = 1.0, .warmup_steps = 10, .total_steps = 10};
  EXPECT_DOUBLE_EQ(learning_rate(all_warmup, 11), 1e-7);
  const Schedule half{
      .base_learning_rate = 1.0, .warmup_steps = 0, .total_steps = 10, .powers = {0.5}};
  EXPECT_DOUBLE_EQ(learning_rate(half, 100), 1e-7);
}

TEST(Schedule, ConstantAfterItsWarmup) {
  const Schedule schedule{.kind = ScheduleKind::kConstant,
                          .base_learning_rate = 1e-3,
                          .warmup_steps = 4,
                          .total_steps = 10};
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 2), 5e-4);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 9), 1e-3);
}

TEST(Schedule, WarmupIsStepsOrAShare) {
  EXPECT_EQ(warmup_steps(277, 2142), 277);
  EXPECT_EQ(warmup_steps(0.1, 2142), 214);
  EXPECT_EQ(warmup_steps(0, 2142), 0);
  for (const double bad : {-1.0, 1.5, std::nan("")}) {
    EXPECT_THROW(warmup_steps(bad, 100), UserError) << bad;
  }
}

TEST(Schedule, RefusesNonsense) {
  const auto refused = [](const Schedule& schedule) {
    EXPECT_THROW(schedule.validate(), UserError);
  };
  refused({.base_learning_rate = 0.0});
  refused({.base_learning_rate = std::nan("")});
  refused({.total_steps = 0});
  refused({.warmup_steps = 11, .total_steps = 10});
  refused({.powers = {}});
  refused({.powers = {1, 2, 3}});
  refused({.powers = {-1}});
  EXPECT_NO_THROW(Schedule{}.validate());
  EXPECT_THROW(schedule_named("cosine"), UserError);
  EXPECT_EQ(schedule_named("polynomial_decay"), ScheduleKind::kPolynomial);
  EXPECT_EQ(schedule_named("constant"), ScheduleKind::kConstant);
}

}  // namespace
}  // namespace cloze::optim
