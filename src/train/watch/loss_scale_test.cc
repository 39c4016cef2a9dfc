#include "train/watch/loss_scale.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cloze::train {
namespace {

TEST(LossScale, IsDynamicInF16AndOneElsewhere) {
  const LossScaleState start;
  EXPECT_EQ(LossScale({}, DType::kF32).at(0, start), 1.0);
  EXPECT_EQ(LossScale({}, DType::kBF16).at(0, start), 1.0);
  EXPECT_EQ(LossScale({}, DType::kF16).at(0, start), 65536.0);
  EXPECT_FALSE(LossScale({}, DType::kBF16).skips_overflows());
  EXPECT_TRUE(LossScale({}, DType::kF16).skips_overflows());
  EXPECT_TRUE(LossScale({.given = 512}, DType::kF16).skips_overflows());
  EXPECT_FALSE(LossScale({.given = 512}, DType::kF16).is_dynamic());
  EXPECT_TRUE(LossScale({.given = 0}, DType::kF32).skips_overflows());
}

TEST(LossScale, ByStepIsThatOfTheLargestKeyNotAbove) {
  const LossScale scale({.by_step = {{0, 512}, {100, 1024}}}, DType::kF16);
  EXPECT_EQ(scale.at(0, {}), 512.0);
  EXPECT_EQ(scale.at(99, {}), 512.0);
  EXPECT_EQ(scale.at(100, {}), 1024.0);
  EXPECT_EQ(scale.at(1000000, {}), 1024.0);
}

TEST(LossScale, DoublesAfterAWindowAndHalvesAtAnOverflow) {
  const LossScale scale({.initial = 8, .window = 3}, DType::kF16);
  LossScaleState state;
  const auto good = [&](int steps) {
    for (int i = 0; i < steps; ++i) scale.take_good_step(state);
    return scale.at(0, state);
  };
  EXPECT_EQ(good(2), 8.0);
  EXPECT_EQ(good(1), 16.0);
  EXPECT_EQ(good(2), 16.0);
  EXPECT_TRUE(scale.take_overflow(state));
  EXPECT_EQ(scale.at(0, state), 8.0);
  EXPECT_EQ(good(2), 8.0) << "the window begins again";
  EXPECT_EQ(good(1), 16.0);
}

TEST(LossScale, StopsDoublingAt2To24) {
  const LossScale scale({.initial = 0x1p23, .window = 1}, DType::kF16);
  LossScaleState state;
  for (int i = 0; i < 3; ++i) scale.take_good_step(state);
  EXPECT_EQ(scale.at(0, state), 0x1p24);
}

TEST(LossScale, TheFloorStops) {
  const LossScale scale({.initial = 8, .minimum = 2}, DType::kF16);
  LossScaleState state;
  EXPECT_TRUE(scale.take_overflow(state));
  EXPECT_TRUE(scale.take_overflow(state));
  EXPECT_EQ(scale.at(0, state), 2.0);
  EXPECT_FALSE(scale.take_overflow(state));
}

TEST(LossScale, AGivenScaleStopsAfterManyOverflowsInARow) {
  const LossScale scale({.given = 512}, DType::kF16);
  LossScaleState state;
  for (int64_t i = 1; i < kMostOverflows; ++i) EXPECT_TRUE(scale.take_overflow(state));
  scale.take_good_step(state);
  for (int64_t i = 1; i < kMostOverflows; ++i) EXPECT_TRUE(scale.take_overflow(state));
  EXPECT_FALSE(scale.take_overflow(state));
  EXPECT_EQ(scale.at(0, state), 512.0);
}

std::string refusal(const LossScaleOptions& options) {
  try {
    options.validate(DType::kF16);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(LossScale, RefusesWhatContradictsItself) {
  EXPECT_EQ(refusal({}), "accepted");
  EXPECT_EQ(refusal({.given = 2, .by_step = {{0, 512}}}),
            "loss_scaling 2 and loss_scaling_by_step both give the loss scale; give one");
  EXPECT_EQ(refusal({.by_step = {{10, 512}}}),
            "loss_scaling_by_step begins at step 10; give the scale for step 0 too");
  EXPECT_EQ(refusal({.initial = 1, .minimum = 2}),
            "init_loss_scale 1 is below min_loss_scale 2; raise it");
  EXPECT_EQ(
      refusal({.given = 512, .window = 100}),
      "loss_scale_window 100 is for a dynamic loss scale; add loss_scaling 0, or leave it out");
  EXPECT_EQ(refusal({.given = 0, .window = 100}), "accepted");
}

}  // namespace
}  // namespace cloze::train
