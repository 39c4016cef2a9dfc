// Runs one rank's parts of a step's micro-batches (passes/pipeline.h) in the order of the schedule.
//
// A micro-batch that a rank has begun and not finished keeps its inputs and activations, in
// sessions of its own that share everything else. There are as many of these as the schedule asks
// for, made when they are first needed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "engine/sized_sessions.h"
#include "feed/step_inputs.h"
#include "passes/pipeline.h"
#include "train/metrics/pipeline_bubble.h"
#include "train/ranks/pipeline_schedule.h"
#include "train/ranks/stage_messages.h"

namespace cloze::train {

class PipelineStep {
 public:
  // `stages`: the ranks of one replica. `sessions`: of this rank's graph; for the first
  // micro-batch. sums_each: the caller takes the gradients of each micro-batch from the session as
  // soon as they are known; otherwise they add up there. Stages and sessions outlive the step.
  PipelineStep(passes::PipelinePlan plan, PipelineSchedule schedule, comm::Communicator& stages,
               engine::SizedSessions& sessions, bool sums_each);

  // Runs these passes of the step, the replica's own, forward and backward. `most`: how many the
  // replica with the most of them has. `after_part` is called with the variables that no later part
  // of the micro-batch adds to (none without sums_each), even where this replica has none.
  using AfterPart = std::function<void(std::span<const graph::Value> finished)>;
  void run(feed::StepInputs& inputs, std::vector<int64_t> passes, int64_t most,
           const AfterPart& after_part);

  // The most of `count` micro-batches that have a session at a time.
  int64_t in_flight(int64_t count) const;
  // The bubble of the last run.
  PipelineBubble bubble() const;

 private:
  struct Begun {
    engine::SizedSessions* place = nullptr;
    engine::Session* session = nullptr;  // of its sessions
  };

  engine::Session& begin(feed::StepInputs& inputs, int64_t micro_batch);
  size_t own_index(int part) const;
  size_t begin_of(size_t own_part) const;
  size_t end_of(size_t own_part) const;
  std::vector<graph::Value> finished_in(size_t own_part) const;
  void run_task(feed::StepInputs& inputs, const PipelineTask& task);

  passes::PipelinePlan plan_;
  PipelineSchedule schedule_;
  comm::Communicator& stages_;
  engine::SizedSessions& first_place_;
  std::vector<int> own_parts_;
  std::vector<std::vector<graph::Value>> finished_;  // by own part
  StageMessages messages_;

  std::vector<std::vector<PipelineTask>> tasks_;                // by rank, of the last run
  int64_t most_ = -1;                                           // its micro-batches
  std::vector<int64_t> passes_;                                 // by micro-batch of this replica
  std::vector<std::unique_ptr<engine::SizedSessions>> others_;  // beside the first
  std::vector<engine::SizedSessions*> free_;
  std::map<int64_t, Begun> begun_;  // by micro-batch
};

}  // namespace cloze::train
