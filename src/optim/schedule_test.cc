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
  const Schedule schedule{
      .name = "constant", .base_learning_rate = 1e-3, .warmup_steps = 4, .total_steps = 10};
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 2), 5e-4);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 9), 1e-3);
}

// The figures were computed with mpmath, 30 digits.
TEST(Schedule, CosineFromThePeakToTheMinimum) {
  const Schedule schedule{
      .name = "cosine_decay", .base_learning_rate = 6e-3, .warmup_steps = 100, .total_steps = 1000};
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 50), 3e-3);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 100), 6e-3);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 101), 0.0059999817229733711444);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 325), 0.0051213203435596425732);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 550), 3e-3);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 999), 1e-7) << "1.8e-8 by the formula";
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 2000), 1e-7);
}

// The figures were computed with mpmath, 30 digits.
TEST(Schedule, NaturalExponentialFallsInStairs) {
  const Schedule schedule{.name = "natural_exponential",
                          .base_learning_rate = 6e-3,
                          .warmup_steps = 100,
                          .total_steps = 1000,
                          .decay_rate = 0.1,
                          .decay_steps = 50};
  schedule.validate();
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 50), 3e-3);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 149), 6e-3);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 150), 0.00542902450821575743898549435668);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 1000), 0.000991793329329519229780828322593);
}

// The figures are those of get_linear_schedule_with_warmup of transformers 4.57.6.
TEST(Schedule, LinearIsThatOfTransformers) {
  const Schedule schedule{
      .name = "linear", .base_learning_rate = 5e-5, .warmup_steps = 10, .total_steps = 100};
  EXPECT_EQ(learning_rate(schedule, 0), 0.0);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 9), 4.5e-05);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 10), 5e-05);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 11), 4.9444444444444446e-05);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 99), 5.555555555555556e-07);
  EXPECT_EQ(learning_rate(schedule, 100), 0.0);
  EXPECT_EQ(learning_rate(schedule, 101), 0.0);
}

TEST(Schedule, LinearHeldKeepsItsLastRate) {
  const Schedule schedule{
      .name = "linear_held", .base_learning_rate = 3.5e-3, .warmup_steps = 10, .total_steps = 1010};
  EXPECT_EQ(learning_rate(schedule, 0), 1e-7);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 5), 1.75e-3);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 510), 1.75e-3);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 1009), 3.5e-6);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 1010), 3.5e-6);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 5000), 3.5e-6);
}

TEST(Schedule, CustomHoldsARateUntilTheNext) {
  const Schedule schedule{
      .name = "custom", .total_steps = 10, .rates_by_step = {{0, 1e-4}, {3, 5e-5}, {7, 0.0}}};
  schedule.validate();
  EXPECT_EQ(learning_rate(schedule, 0), 1e-4);
  EXPECT_EQ(learning_rate(schedule, 2), 1e-4);
  EXPECT_EQ(learning_rate(schedule, 3), 5e-5);
  EXPECT_EQ(learning_rate(schedule, 9), 0.0);
}

// The figures were computed with Python's decimal module, 40 digits, from the definition: with
// p = (s + 1) / T and w = 0.2843, base p / w below w, base sqrt(1 - p) from there on.
TEST(Schedule, PolyWarmupFollowsHabanasRootDecay) {
  const Schedule given{
      .name = "poly_warmup", .base_learning_rate = 6e-3, .warmup = 0.2843, .powers = {1.0, 0.5}};
  given.validate();
  const Schedule schedule = given.over(7038);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 0), 2.9986455118223097e-06);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 999), 0.0029986455118223097);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 1999), 0.0059972910236446193);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 2000), 0.0050758945893657941)
      << "15 % below the peak at once";
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 5000), 0.0032279153241919858);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 7036), 7.1519853985215162e-05);
  EXPECT_EQ(learning_rate(schedule, 7037), 0.0);
  EXPECT_EQ(learning_rate(schedule, 8000), 0.0);
}

TEST(Schedule, PolyWarmupWithoutWarmup) {
  const Schedule schedule{
      .name = "poly_warmup", .base_learning_rate = 1.0, .total_steps = 4, .powers = {1.0, 0.5}};
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 0), std::sqrt(0.75));
}

double warmup_steps(Schedule schedule, double warmup, int64_t steps) {
  schedule.warmup = warmup;
  schedule.validate();
  return schedule.over(steps).warmup_steps;
}

TEST(Schedule, WarmupIsStepsOrAShare) {
  const Schedule polynomial;
  EXPECT_EQ(warmup_steps(polynomial, 277, 2142), 277);
  EXPECT_EQ(warmup_steps(polynomial, 0.1, 2142), 214);
  EXPECT_EQ(warmup_steps(polynomial, 0, 2142), 0);
  EXPECT_EQ(warmup_steps({.name = "poly_warmup"}, 0.25, 2142), 535.5);
  for (const double bad : {-1.0, 1.5, std::nan("")}) {
    EXPECT_THROW(warmup_steps(polynomial, bad, 100), UserError) << bad;
  }
}

// The throughput commands of Graphcore's README try long configurations for a few steps.
TEST(Schedule, ALongWarmupIsCutToTheRun) {
  EXPECT_EQ(warmup_steps({}, 2000, 4), 4);
  EXPECT_EQ(warmup_steps({.name = "poly_warmup"}, 2000, 4), 4);
  EXPECT_EQ(warmup_steps({}, 2000, 7032), 2000);
}

// transformers: math.ceil(steps * ratio), in double.
TEST(Schedule, AShareMayBeRoundedUp) {
  const Schedule linear{.name = "linear", .rounds_warmup_up = true};
  EXPECT_EQ(warmup_steps(linear, 0.1, 2142), 215);
  EXPECT_EQ(warmup_steps(linear, 0.25, 400), 100);
  EXPECT_EQ(warmup_steps(linear, 0.28, 10500), 2941) << "the product is above 2940 in double";
  EXPECT_EQ(warmup_steps(linear, 0, 2142), 0);
  EXPECT_EQ(warmup_steps(linear, 277, 2142), 277);
  EXPECT_EQ(warmup_steps({.name = "poly_warmup", .rounds_warmup_up = true}, 0.25, 2142), 535.5);
}

TEST(Schedule, SaysWhichOptionsItReads) {
  EXPECT_EQ(schedule_options("custom"), std::vector<std::string_view>{"lr_schedule_by_step"});
  EXPECT_EQ(schedule_options("linear"),
            (std::vector<std::string_view>{"base_learning_rate", "warmup", "warmup_rounds_up"}));
  EXPECT_THROW(schedule_options("cosinus"), UserError);
}

TEST(Schedule, RefusesNonsense) {
  const auto refused = [](const Schedule& schedule) {
    EXPECT_THROW(schedule.validate(), UserError);
  };
  refused({.base_learning_rate = 0.0});
  refused({.base_learning_rate = std::nan("")});
  refused({.powers = {}});
  refused({.powers = {1, 2, 3}});
  refused({.powers = {-1}});
  for (const std::string& name : schedule_names()) {
    Schedule schedule{.name = name, .decay_rate = 0.1, .rates_by_step = {{0, 1e-4}}};
    EXPECT_NO_THROW(schedule.validate()) << name;
  }
  refused({.name = "natural_exponential"});
  refused({.name = "natural_exponential", .decay_rate = 0.1, .decay_steps = 0});
  refused({.name = "custom"});
  refused({.name = "custom", .rates_by_step = {{1, 1e-4}}});
  refused({.name = "custom", .rates_by_step = {{0, -1e-4}}});
  refused({.name = "custom", .rates_by_step = {{-1, 1e-4}, {0, 1e-4}}});
  refused({.name = "cosinus"});
  EXPECT_THROW(learning_rate({.name = "cosinus"}, 0), UserError);
}

}  // namespace
}  // namespace cloze::optim
