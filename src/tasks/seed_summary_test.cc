#include "tasks/finetuning_task.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cloze::tasks {
namespace {

TEST(SeedSummary, SaysEachRunTheirMeanAndTheBest) {
  const std::vector<SeedScores> runs = {{.seed = 7, .scores = {{"RTE accuracy", 70.0}}},
                                        {.seed = 8, .scores = {{"RTE accuracy", 76.0}}},
                                        {.seed = 9, .scores = {{"RTE accuracy", 76.0}}}};
  EXPECT_EQ(describe_runs(runs),
            std::vector<std::string>{"RTE accuracy 74.00 +- 3.46 (3 runs: 70.00, 76.00, 76.00)"});
  const auto json = seed_summary_json(runs);
  EXPECT_EQ(json["runs"][1]["seed"], 8);
  EXPECT_EQ(json["runs"][1]["scores"]["RTE accuracy"], 76.0);
  const auto& summary = json["summary"]["RTE accuracy"];
  EXPECT_EQ(summary["mean"], 74.0);
  EXPECT_DOUBLE_EQ(summary["deviation"].get<double>(), std::sqrt(12.0));
  EXPECT_EQ(summary["best"], 76.0);
  EXPECT_EQ(summary["best_seed"], 8);
}

// Those of constant predictions have no correlation.
TEST(SeedSummary, AScoreThatIsNoNumberIsNotTheBest) {
  const double nan = std::nan("");
  const auto summary_of = [](double first, double second) {
    return seed_summary_json(
        {{.seed = 7, .scores = {{"STS-B pearson", first}}},
         {.seed = 8, .scores = {{"STS-B pearson", second}}}})["summary"]["STS-B pearson"];
  };
  EXPECT_EQ(summary_of(nan, -3.0)["best"], -3.0);
  EXPECT_EQ(summary_of(nan, -3.0)["best_seed"], 8);
  EXPECT_TRUE(summary_of(nan, nan)["best_seed"].is_null());
}

TEST(SeedSummary, OneRunHasNoDeviation) {
  EXPECT_EQ(describe_runs({{.seed = 7, .scores = {{"RTE accuracy", 70.0}}}}),
            std::vector<std::string>{"RTE accuracy 70.00"});
}

}  // namespace
}  // namespace cloze::tasks
