// The ranks of a run, and the work that each has: replicas of a pipeline of stages. Rank r is stage
// r % stages of replica r / stages.
#pragma once

#include <cstdint>
#include <vector>

#include "train/ranks/pipeline_schedule.h"

namespace cloze::forecast {

using train::PipelineSchedule;

// The work of a stage on one micro-batch of its replica.
struct StageTask {
  bool is_backward = false;
  int64_t micro_batch = 0;
};

struct RankLayout {
  int64_t replicas = 1;
  int64_t stages = 1;
  int64_t micro_batches = 1;  // of the replica that has most of them in a step
  PipelineSchedule schedule = PipelineSchedule::kInterleaved;
  bool is_sharded = false;     // optimiser states are divided over the replicas, by whole tensors
  int64_t gradient_bytes = 4;  // of a number while it travels to be summed

  int64_t ranks() const { return replicas * stages; }
  // The tasks of each stage, in its order.
  std::vector<std::vector<StageTask>> tasks() const;
  // The most micro-batches whose activations each stage holds at the same time.
  std::vector<int64_t> in_flight() const;
};

}  // namespace cloze::forecast
