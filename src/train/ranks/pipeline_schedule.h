// In which order the ranks of a pipeline compute the parts of a step's micro-batches.
//
// Each rank computes its parts as soon as it may, the earliest part first. The schedules differ in
// how many micro-batches a rank has begun and not finished, whose activations it keeps:
//
//   grouped       all of them: every forward pass before the backward passes
//   interleaved   as many as hide the way to the last stage and back: S - s on stage s of S
//   sequential    one
//
// The parts of one kind run in the order of the micro-batches, so that gradients are added up in
// the order of one process. Source: Narayanan et al., arXiv 2104.04473, section 2.2.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cloze::train {

enum class PipelineSchedule { kGrouped, kInterleaved, kSequential };
// "Grouped", "Interleaved" and "Sequential": of the enumerators, in their order.
std::vector<std::string> pipeline_schedule_names();

struct PipelineTask {
  int64_t micro_batch = 0;
  int part = 0;
  bool operator==(const PipelineTask&) const = default;
};

// By rank, what it computes of `count` micro-batches. part_ranks: who computes each part of a
// micro-batch, in their order.
std::vector<std::vector<PipelineTask>> pipeline_tasks(std::span<const int> part_ranks,
                                                      PipelineSchedule schedule, int64_t count);

// Of one rank's tasks: the most micro-batches that it has begun and not finished.
int64_t most_in_flight(std::span<const PipelineTask> tasks);

// The share of a step for which each of S ranks waits, when all parts take equally long:
// (S - 1) / (k + S - 1) of k micro-batches; sequential: (S - 1) / S.
double pipeline_bubble(int num_ranks, PipelineSchedule schedule, int64_t count);

}  // namespace cloze::train
