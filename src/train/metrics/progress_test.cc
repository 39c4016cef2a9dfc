#include "train/metrics/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "train/watch/step_watch.h"

namespace cloze::train {
namespace {

// A run of steps that take the same time, on a clock of its own.
struct TimedRun {
  explicit TimedRun(ProgressOptions options) : progress(out, with_clock(std::move(options))) {}
  ProgressOptions with_clock(ProgressOptions options) {
    options.clock = [this] { return now; };
    return options;
  }
  void steps(int64_t first, int64_t last, double seconds_each, int64_t steps_per_log = 1) {
    for (int64_t step = first; step <= last; step += steps_per_log) {
      now += seconds_each * static_cast<double>(steps_per_log);
      progress.write({.step = step,
                      .loss = 7.25,
                      .losses = {{"mlm", 6.5, 0.125}, {"nsp", 0.75, 0.5}},
                      .learning_rate = 1e-3,
                      .tokens_per_second = 12345.4,
                      .sequences_per_second = 96.5});
    }
  }
  double now = 100;
  std::ostringstream out;
  Progress progress;
};

int64_t count(const std::string& text, const std::string& part) {
  int64_t times = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
  return times;
}

TEST(Progress, PlainLinesHoldEveryFieldAndNoControlCharacters) {
  TimedRun run({.total_steps = 100});
  run.steps(1, 2, 5.0);
  EXPECT_EQ(run.out.str().substr(run.out.str().find('\n') + 1),
            "step 2/100  loss 7.2500  eta 8:10  mlm 6.5000 12.5%  nsp 0.7500 50.0%  "
            "12345 tokens/s  96.5 sequences/s  lr 1.000e-03\n");
  EXPECT_EQ(run.out.str().find_first_of("\r\x1b"), std::string::npos);
}

TEST(Progress, SaysWhatTheLossScaleDid) {
  TimedRun run({.total_steps = 100});
  run.progress.write({.step = 1, .loss_scale = 32768, .skipped_steps = 2});
  EXPECT_EQ(count(run.out.str(), "  2 skipped  "), 1) << run.out.str();
  EXPECT_EQ(count(run.out.str(), "  loss scale 32768\n"), 1) << run.out.str();
}

TEST(Progress, SaysSinceWhenTheLossIsHigh) {
  TimedRun run({.total_steps = 100});
  run.progress.write({.step = 20, .high_losses = kHighLossSteps - 1});
  EXPECT_EQ(count(run.out.str(), "untrained"), 0);
  run.now += 10;
  run.progress.write({.step = 21, .high_losses = kHighLossSteps});
  EXPECT_EQ(count(run.out.str(), "  worse than untrained since step 6  "), 1) << run.out.str();
}

TEST(Progress, PlainLinesComeEveryFewSecondsAndAtTheEnds) {
  TimedRun run({.total_steps = 100, .seconds_between_lines = 5});
  run.steps(1, 100, 0.25);
  const std::string text = run.out.str();
  EXPECT_EQ(text.find("step 1/100"), 0u);
  EXPECT_NE(text.find("step 100/100"), std::string::npos);
  EXPECT_EQ(count(text, "\n"), 6);  // steps 1, 21, 41, 61, 81, 100
}

TEST(Progress, BarIsRedrawnAtMostTenTimesASecond) {
  TimedRun run({.total_steps = 1000, .redraws = true});
  run.steps(1, 999, 0.001);
  EXPECT_LE(count(run.out.str(), "\r"), 11);
  EXPECT_GE(count(run.out.str(), "\r"), 9);
}

TEST(Progress, BarFitsTheTerminal) {
  for (const int columns : {10, 30, 60, 80, 200}) {
    TimedRun run({.total_steps = 100, .redraws = true, .columns = columns});
    run.steps(1, 1, 1.0);
    const std::string text = run.out.str();
    EXPECT_LT(text.size() - std::string("\r\x1b[K").size(), static_cast<size_t>(columns)) << text;
  }
}

TEST(Progress, ColorOnlyWhenAsked) {
  TimedRun plain({.total_steps = 2, .redraws = true, .columns = 120});
  plain.steps(1, 1, 1.0);
  EXPECT_EQ(count(plain.out.str(), "\x1b[32m"), 0);
  EXPECT_EQ(count(plain.out.str(), "[##########----------]"), 1);
  TimedRun colored({.total_steps = 2, .redraws = true, .has_color = true, .columns = 120});
  colored.steps(1, 1, 1.0);
  EXPECT_EQ(count(colored.out.str(), "\x1b[32m"), 1);
}

TEST(Progress, FinishShowsTheLastStepOnce) {
  TimedRun run({.total_steps = 100});
  run.steps(1, 3, 0.5);
  run.progress.finish();
  run.progress.finish();
  EXPECT_EQ(count(run.out.str(), "step 3/100"), 1);
}

TEST(Progress, TimeLeftFollowsTheRecentSteps) {
  TimedRun run({.total_steps = 1000, .seconds_between_lines = 0});
  run.steps(1, 100, 10.0);
  run.steps(101, 400, 1.0);
  EXPECT_NE(run.out.str().find("step 400/1000  loss 7.2500  eta 10:00"), std::string::npos);
}

// A log line of ten steps counts as ten steps: a pause is forgotten just as soon.
TEST(Progress, TimeLeftForgetsAPauseWhereLogsAreFew) {
  TimedRun run({.total_steps = 1000});
  run.steps(10, 200, 3.0, 10);
  run.now += 3600;
  run.steps(210, 250, 3.0, 10);
  EXPECT_NE(run.out.str().find("step 250/1000  loss 7.2500  eta 37:30"), std::string::npos);
}

TEST(Progress, DurationsReadWell) {
  EXPECT_EQ(duration_text(-1), "?");
  EXPECT_EQ(duration_text(42.4), "42s");
  EXPECT_EQ(duration_text(185), "3:05");
  EXPECT_EQ(duration_text(3723), "1:02:03");
  EXPECT_EQ(duration_text(2 * 86400 + 3 * 3600 + 4 * 60), "2d 03:04");
}

}  // namespace
}  // namespace cloze::train
