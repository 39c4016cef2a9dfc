#include "forecast/rank_layout.h"

#include <cstdlib>

namespace cloze::forecast {
namespace {

int last_stage_of(const RankLayout& layout) { return static_cast<int>(layout.stages) - 1; }

std::vector<std::vector<train::PipelineTask>> pipeline_tasks_of(const RankLayout& layout) {
  const int last = last_stage_of(layout);
  std::vector<int> part_ranks;
  for (int part = 0; part <= 2 * last; ++part) part_ranks.push_back(last - std::abs(last - part));
  return train::pipeline_tasks(part_ranks, layout.schedule, layout.micro_batches);
}

}  // namespace

std::vector<std::vector<StageTask>> RankLayout::tasks() const {
  const int last = last_stage_of(*this);
  std::vector<std::vector<StageTask>> all;
  for (const std::vector<train::PipelineTask>& of_stage : pipeline_tasks_of(*this)) {
    std::vector<StageTask>& tasks = all.emplace_back();
    for (const auto& [micro_batch, part] : of_stage) {
      if (part <= last) tasks.push_back({false, micro_batch});
      if (part >= last) tasks.push_back({true, micro_batch});
    }
  }
  return all;
}

std::vector<int64_t> RankLayout::in_flight() const {
  std::vector<int64_t> most;
  for (const std::vector<train::PipelineTask>& tasks : pipeline_tasks_of(*this)) {
    most.push_back(train::most_in_flight(tasks));
  }
  return most;
}

}  // namespace cloze::forecast
