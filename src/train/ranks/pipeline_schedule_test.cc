#include "train/ranks/pipeline_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace cloze::train {
namespace {

constexpr PipelineSchedule kAll[] = {PipelineSchedule::kGrouped, PipelineSchedule::kInterleaved,
                                     PipelineSchedule::kSequential};

// "F0 F1 B0 ..." of a rank with two parts, the forward pass first.
std::string text_of(const std::vector<PipelineTask>& tasks) {
  std::string text;
  for (const PipelineTask& task : tasks) {
    text += (task.part == tasks.front().part ? " F" : " B") + std::to_string(task.micro_batch);
  }
  return text;
}

TEST(PipelineSchedule, OrdersForwardAndBackward) {
  const int ranks[] = {0, 1, 2, 1, 0};
  const auto first = [&](PipelineSchedule schedule) {
    return text_of(pipeline_tasks(ranks, schedule, 4)[0]);
  };
  EXPECT_EQ(first(PipelineSchedule::kGrouped), " F0 F1 F2 F3 B0 B1 B2 B3");
  EXPECT_EQ(first(PipelineSchedule::kInterleaved), " F0 F1 F2 B0 F3 B1 B2 B3");
  EXPECT_EQ(first(PipelineSchedule::kSequential), " F0 B0 F1 B1 F2 B2 F3 B3");
}

// Every part of every micro-batch once, on its rank, in an order in which no rank waits for ever;
// the layouts include a rank with three parts of a micro-batch.
TEST(PipelineSchedule, CanBeRun) {
  const std::vector<std::vector<int>> pipelines{
      {0}, {0, 1, 0}, {0, 1, 2, 3, 2, 1, 0}, {0, 1, 2, 0, 2, 1, 0}};
  for (const std::vector<int>& ranks : pipelines) {
    for (const PipelineSchedule schedule : kAll) {
      for (const int64_t count : {0, 1, 2, 7}) {
        const auto tasks = pipeline_tasks(ranks, schedule, count);
        std::vector<size_t> next(tasks.size(), 0);
        std::vector<int64_t> done(ranks.size(), 0);
        for (bool moves = true; moves;) {
          moves = false;
          for (size_t rank = 0; rank < tasks.size(); ++rank) {
            if (next[rank] == tasks[rank].size()) continue;
            const PipelineTask task = tasks[rank][next[rank]];
            const auto part = static_cast<size_t>(task.part);
            if (part > 0 && done[part - 1] <= task.micro_batch) continue;
            EXPECT_EQ(done[part]++, task.micro_batch);
            EXPECT_EQ(ranks[part], static_cast<int>(rank));
            ++next[rank];
            moves = true;
          }
        }
        EXPECT_EQ(std::ranges::count(done, count), std::ssize(done));
      }
    }
  }
}

TEST(PipelineSchedule, LimitsWhatARankHasBegun) {
  const int ranks[] = {0, 1, 2, 1, 0};
  const std::map<PipelineSchedule, std::vector<int64_t>> most{
      {PipelineSchedule::kGrouped, {9, 9, 1}},
      {PipelineSchedule::kInterleaved, {3, 2, 1}},
      {PipelineSchedule::kSequential, {1, 1, 1}}};
  for (const auto& [schedule, expected] : most) {
    const auto tasks = pipeline_tasks(ranks, schedule, 9);
    for (int rank = 0; rank < 3; ++rank) {
      const int64_t largest = most_in_flight(tasks[static_cast<size_t>(rank)]);
      if (schedule == PipelineSchedule::kGrouped && rank == 1) {
        EXPECT_GT(largest, 2);  // as many as arrive before the first comes back
      } else {
        EXPECT_EQ(largest, expected[static_cast<size_t>(rank)]);
      }
    }
  }
}

TEST(PipelineSchedule, HasABubble) {
  EXPECT_DOUBLE_EQ(pipeline_bubble(4, PipelineSchedule::kGrouped, 9), 0.25);
  EXPECT_DOUBLE_EQ(pipeline_bubble(4, PipelineSchedule::kInterleaved, 9), 0.25);
  EXPECT_DOUBLE_EQ(pipeline_bubble(4, PipelineSchedule::kSequential, 9), 0.75);
  EXPECT_DOUBLE_EQ(pipeline_bubble(1, PipelineSchedule::kGrouped, 9), 0.0);
}

TEST(PipelineSchedule, HasNames) {
  const auto name_of = [](PipelineSchedule schedule) {
    return pipeline_schedule_names().at(static_cast<size_t>(schedule));
  };
  EXPECT_EQ(name_of(PipelineSchedule::kGrouped), "Grouped");
  EXPECT_EQ(name_of(PipelineSchedule::kInterleaved), "Interleaved");
  EXPECT_EQ(name_of(PipelineSchedule::kSequential), "Sequential");
}

}  // namespace
}  // namespace cloze::train
