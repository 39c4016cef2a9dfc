#include "forecast/rank_layout.h"

#include <gtest/gtest.h>

namespace cloze::forecast {
namespace {

// "F0 F1 B0 B1"
std::string text_of(const RankLayout& layout, size_t stage) {
  std::string text;
  const std::vector<StageTask> tasks = layout.tasks().at(stage);
  for (const StageTask& task : tasks) {
    text += (text.empty() ? "" : " ") + std::string(task.is_backward ? "B" : "F") +
            std::to_string(task.micro_batch);
  }
  return text;
}

TEST(RankLayout, TasksFollowTheSchedule) {
  RankLayout layout{.stages = 2, .micro_batches = 3, .schedule = PipelineSchedule::kGrouped};
  EXPECT_EQ(text_of(layout, 0), "F0 F1 F2 B0 B1 B2");
  EXPECT_EQ(text_of(layout, 1), "F0 B0 F1 B1 F2 B2");
  EXPECT_EQ(layout.in_flight(), (std::vector<int64_t>{3, 1}));
  layout.schedule = PipelineSchedule::kInterleaved;
  EXPECT_EQ(text_of(layout, 0), "F0 F1 B0 F2 B1 B2");
  EXPECT_EQ(text_of(layout, 1), "F0 B0 F1 B1 F2 B2");
  EXPECT_EQ(layout.in_flight(), (std::vector<int64_t>{2, 1}));
  layout.schedule = PipelineSchedule::kSequential;
  EXPECT_EQ(text_of(layout, 0), "F0 B0 F1 B1 F2 B2");
  EXPECT_EQ(layout.in_flight(), (std::vector<int64_t>{1, 1}));
}

}  // namespace
}  // namespace cloze::forecast
