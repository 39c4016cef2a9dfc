#include "forecast/step_seconds.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "forecast/sums_program_test.h"

namespace cloze::forecast {
namespace {

TEST(StepSeconds, MicroBatchesCountOftenAndTheUpdateOnce) {
  const plan::Program program = sums_program();
  const plan::ProgramUse use = plan::use_of(program);
  const StepSeconds seconds{.calls = {1.0, 2.0, 4.0}, .host = 0.5};
  EXPECT_DOUBLE_EQ(seconds.of_step(use, 3), 3 * (1 + 2) + 4 + 0.5);
}

TEST(StepSeconds, AreEstimatedFromRates) {
  const plan::Program program = sums_program();
  const DeviceRates rates{.device = "d", .gflops = {{"f32", 1.0}}, .gigabytes_per_second = 2.0};
  const StepSeconds seconds = estimated_seconds(program, plan::use_of(program), rates);
  ASSERT_EQ(seconds.calls.size(), 3u);
  EXPECT_DOUBLE_EQ(seconds.calls[0], kSumBytes / 2e9);
  EXPECT_DOUBLE_EQ(seconds.calls[1], kProductFlops / 1e9);
  EXPECT_DOUBLE_EQ(seconds.calls[2], kSumBytes / 2e9);
  EXPECT_EQ(seconds.source, "an estimate from d");
}

TEST(StepSeconds, RatesWithoutTheDTypeAreRefused) {
  const plan::Program program = sums_program();
  const DeviceRates rates{.device = "d", .gflops = {{"bf16", 1.0}}, .gigabytes_per_second = 2.0};
  try {
    estimated_seconds(program, plan::use_of(program), rates);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()).find("the rates of d do not include products in f32"), 0u);
  }
}

// Two micro-batches in each of three steps, and a smaller one; one launch was slowed down by
// another program.
TEST(StepSeconds, AreMediansOfSpans) {
  const plan::Program program = sums_program();
  const plan::Program smaller = sums_program();
  std::vector<runtime::LaunchSpan> spans;
  for (int step = 0; step < 3; ++step) {
    for (int micro_batch = 0; micro_batch < 2; ++micro_batch) {
      const double first = step == 1 ? 9.0 : 1.0;
      spans.push_back({.program = &program, .phase = 0, .launch = 0, .seconds = first});
      spans.push_back({.program = &program, .phase = 0, .launch = 1, .seconds = 2.0});
    }
    spans.push_back({.program = &smaller, .phase = 0, .launch = 0, .seconds = 0.25});
    spans.push_back({.program = &program, .phase = 1, .launch = 0, .seconds = 4.0});
  }
  const StepSeconds seconds = measured_seconds(program, spans, {11, 27, 11});
  EXPECT_EQ(seconds.calls, (std::vector<double>{1.0, 2.0, 4.0}));
  EXPECT_NEAR(seconds.host, (11 + 27 + 11) / 3.0 - (10.25 + 26.25 + 10.25) / 3.0, 1e-12);
  EXPECT_EQ(seconds.source, "measured: medians of 3 steps");
}

}  // namespace
}  // namespace cloze::forecast
