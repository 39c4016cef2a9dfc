#include "cli/scale/rank_layout.h"

#include <algorithm>

namespace cloze::cli {
namespace {

int last_stage_of(const RankLayout& layout) { return static_cast<int>(layout.stages) - 1; }

std::vector<train::PipelineTask> pipeline_tasks_of(const RankLayout& layout, int64_t stage) {
  const int last = last_stage_of(layout);
  std::vector<int> part_ranks;
  for (int part = 0; part <= 2 * last; ++part)
    part_ranks.push_back(std::min(part, 2 * last - part));
  auto tasks = train::pipeline_tasks(part_ranks, layout.schedule, layout.micro_batches);
  return std::move(tasks[static_cast<size_t>(stage)]);
}

}  // namespace

std::vector<StageTask> RankLayout::tasks(int64_t stage) const {
  const int last = last_stage_of(*this);
  std::vector<StageTask> tasks;
  for (const auto& [micro_batch, part] : pipeline_tasks_of(*this, stage)) {
    if (part <= last) tasks.push_back({false, micro_batch});
    if (part >= last) tasks.push_back({true, micro_batch});
  }
  return tasks;
}

int64_t RankLayout::in_flight(int64_t stage) const {
  return train::most_in_flight(pipeline_tasks_of(*this, stage));
}

}  // namespace cloze::cli
