#include "cli/report/step_profile.h"

#include <gtest/gtest.h>

#include "engine/devices.h"
#include "forecast/sums_program_test.h"
#include "formats/json.h"
#include "platform/files/file.h"

namespace cloze::cli {
namespace {

class StepProfileTest : public testing::Test {
 protected:
  StepProfileTest() : session_(forecast::sums_program(), engine::device_named("cpu")) {
    session_.clear(plan::Arena::kInputs);
    std::filesystem::remove(path_);
  }
  std::string outcome_of(int steps) {
    const auto make_report = [](const plan::Program& program, int64_t) {
      return Report{.program = program, .use = plan::use_of(program)};
    };
    StepProfile profile(session_, make_report, path_);
    for (int step = 1; step <= steps; ++step) {
      session_.run(graph::kMicroStep);
      session_.run(graph::kUpdate);
      profile.add({.step = step, .seconds = 1.0});
    }
    session_.run(graph::kMicroStep);  // no step: a check before weights are saved
    return profile.outcome();
  }
  size_t spans_written() const {
    const auto trace = formats::read_json_file(StepProfile::trace_path(path_));
    size_t count = 0;
    for (const auto& event : trace.at("traceEvents")) count += event.at("ph") == "X" ? 1 : 0;
    return count;
  }

  engine::Session session_;
  std::filesystem::path path_ = testing::TempDir() + "step_profile.html";
};

TEST_F(StepProfileTest, LeavesOutTheFirstStepsAndStopsAfterAFew) {
  const std::string text = outcome_of(20);
  EXPECT_EQ(text, "wrote " + path_.string() + " and " + StepProfile::trace_path(path_).string() +
                      ", of 5 steps");
  EXPECT_EQ(spans_written(), 3 * StepProfile::kSteps);
  EXPECT_NE(platform::read_file(path_).find("measured: medians of 5 steps"), std::string::npos);
}

// A step that overflowed has launches, but no metrics of its own.
TEST_F(StepProfileTest, CountsTheStepsThatWereSkipped) {
  int64_t counted = 0;
  const auto make_report = [&](const plan::Program& program, int64_t micro_batches) {
    counted = micro_batches;
    return Report{.program = program, .use = plan::use_of(program)};
  };
  StepProfile profile(session_, make_report, path_);
  for (int step = 1; step <= 7; ++step) {
    for (int attempt = 0; attempt < 2; ++attempt) {
      for (int i = 0; i < 3; ++i) session_.run(graph::kMicroStep);
      session_.run(graph::kUpdate);
    }
    profile.add({.step = step, .skipped_steps = step, .seconds = 1.0});
  }
  EXPECT_EQ(counted, 3);
}

TEST_F(StepProfileTest, TakesWhatAShortRunHas) {
  outcome_of(StepProfile::kWarmUpSteps + 1);
  EXPECT_EQ(spans_written(), 3u);
}

TEST_F(StepProfileTest, TakesTheOnlyStepOfARun) {
  EXPECT_EQ(
      outcome_of(1),
      "wrote " + path_.string() + " and " + StepProfile::trace_path(path_).string() +
          ", of 1 step; the run was too short to leave out its first steps, which are slower");
  EXPECT_EQ(spans_written(), 3u);
  EXPECT_NE(platform::read_file(path_).find("measured: one step"), std::string::npos);
}

TEST_F(StepProfileTest, SaysThatARunHadNoStep) {
  EXPECT_EQ(outcome_of(0), "no " + path_.string() + ": the run had no step");
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace cloze::cli
