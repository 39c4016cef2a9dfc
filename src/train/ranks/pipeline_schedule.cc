#include "train/ranks/pipeline_schedule.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"

namespace cloze::train {
namespace {

// A rank's parts, and how many micro-batches it may have begun.
struct RankParts {
  std::vector<size_t> parts;
  int64_t most_begun = 0;
};

int64_t most_begun(const std::vector<size_t>& parts, PipelineSchedule schedule, int64_t count) {
  switch (schedule) {
    case PipelineSchedule::kGrouped:
      return count;
    case PipelineSchedule::kInterleaved:
      return static_cast<int64_t>(parts.back() - parts.front()) / 2 + 1;
    case PipelineSchedule::kSequential:
      return 1;
  }
  throw InternalError("unknown schedule");
}

std::vector<RankParts> parts_of_ranks(std::span<const int> part_ranks, PipelineSchedule schedule,
                                      int64_t count) {
  std::vector<RankParts> ranks(1 + static_cast<size_t>(*std::ranges::max_element(part_ranks)));
  for (size_t part = 0; part < part_ranks.size(); ++part) {
    ranks[static_cast<size_t>(part_ranks[part])].parts.push_back(part);
  }
  for (RankParts& rank : ranks) rank.most_begun = most_begun(rank.parts, schedule, count);
  return ranks;
}

}  // namespace

std::vector<std::string> pipeline_schedule_names() {
  return {"Grouped", "Interleaved", "Sequential"};
}

// All parts take one tick of a clock.
std::vector<std::vector<PipelineTask>> pipeline_tasks(std::span<const int> part_ranks,
                                                      PipelineSchedule schedule, int64_t count) {
  const std::vector<RankParts> ranks = parts_of_ranks(part_ranks, schedule, count);
  std::vector<std::vector<PipelineTask>> tasks(ranks.size());
  std::vector<int64_t> done(part_ranks.size(), 0);  // micro-batches, by part
  while (done.back() < count) {
    const std::vector<int64_t> before = done;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      const auto& [parts, most_begun] = ranks[rank];
      const auto may_run = [&](size_t part) {
        const bool has_room =
            part != parts.front() || before[part] - before[parts.back()] < most_begun;
        return has_room && before[part] < (part == 0 ? count : before[part - 1]);
      };
      const auto part = std::ranges::find_if(parts, may_run);
      if (part == parts.end()) continue;
      tasks[rank].push_back({done[*part]++, static_cast<int>(*part)});
    }
  }
  return tasks;
}

int64_t most_in_flight(std::span<const PipelineTask> tasks) {
  std::map<int64_t, int64_t> left;  // by micro-batch, its tasks
  for (const PipelineTask& task : tasks) ++left[task.micro_batch];
  std::set<int64_t> begun;
  int64_t most = 0;
  for (const PipelineTask& task : tasks) {
    begun.insert(task.micro_batch);
    most = std::max(most, std::ssize(begun));
    if (--left[task.micro_batch] == 0) begun.erase(task.micro_batch);
  }
  return most;
}

double pipeline_bubble(int num_ranks, PipelineSchedule schedule, int64_t count) {
  const double others = num_ranks - 1;
  const bool is_sequential = schedule == PipelineSchedule::kSequential;
  return others / (others + (is_sequential ? 1.0 : static_cast<double>(count)));
}

}  // namespace cloze::train
