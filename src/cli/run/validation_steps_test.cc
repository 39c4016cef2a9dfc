#include "cli/run/pretrain_options.h"

#include <gtest/gtest.h>

namespace cloze::cli {
namespace {

using Steps = std::vector<int64_t>;

// Graphcore's v2.0 submissions: pod16, pod64, pod128, pod256.
TEST(ValidationSteps, MlperfsIntervalIsThatOfTheSubmissions) {
  EXPECT_EQ(mlperf_interval(3072), 175000);  // 0.05 * 3,707,267 = 185,363
  EXPECT_EQ(mlperf_interval(4608), 200000);  // 203,045
  EXPECT_EQ(mlperf_interval(6144), 200000);  // 220,727
  EXPECT_EQ(mlperf_interval(6912), 225000);  // 229,567
  EXPECT_EQ(validation_steps({}, 3072, 1000).front(), 57) << "175000 / 3072 = 56.97";
}

TEST(ValidationSteps, AreThoseThatReachATrigger) {
  EXPECT_EQ(validation_steps({.triggers = {1, 8, 9, 33, 40, 41}}, 8, 6), (Steps{1, 2, 5}));
  EXPECT_EQ(validation_steps({.interval = 20}, 8, 10), (Steps{3, 5, 8}));
  EXPECT_EQ(validation_steps({.interval = 20, .start = 10}, 8, 10), (Steps{2, 4, 7, 9}));
  EXPECT_EQ(validation_steps({.interval = 100}, 8, 10), Steps{}) << "the last one always is";
  EXPECT_EQ(validation_steps({.interval = 1}, 8, 4), (Steps{1, 2, 3}));
  EXPECT_EQ(validation_steps({.interval = 3, .start = 16}, 8, 5), (Steps{2, 3, 4}));
  EXPECT_EQ(validation_steps({.triggers = {8, 1e30}}, 8, 5), Steps{1});
}

}  // namespace
}  // namespace cloze::cli
