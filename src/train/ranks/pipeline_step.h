// What one rank of a pipeline does of a step: its parts of the micro-batches (passes/pipeline.h),
// in the order of the schedule, and what has to be summed between the ranks afterwards.
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
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "data/micro_batch.h"
#include "engine/session.h"
#include "passes/pipeline.h"
#include "train/micro_batch_sessions.h"
#include "train/ranks/pipeline_schedule.h"
#include "train/ranks/reproducible_sums.h"

namespace cloze::train {

class PipelineStep {
 public:
  // `stages`: the ranks of one replica. `sessions` have this rank's graph and the first micro-batch.
  // `sums`: takes what each micro-batch adds to gradients, or null: they add up in the session. All
  // outlive the step.
  PipelineStep(passes::PipelinePlan plan, PipelineSchedule schedule, comm::Communicator& stages,
               MicroBatchSessions& sessions, ReproducibleSums* sums);

  // Runs the replica's micro-batches forward and backward; `write` puts all inputs of one into a
  // session. `most`: how many the replica with the most of them has.
  using Write = std::function<void(engine::Session& session, const data::MicroBatch& micro_batch)>;
  void run(std::vector<const data::MicroBatch*> micro_batches, int64_t most, const Write& write);
  // For a parameter that several ranks have, the first of them gets the sum of all its gradients,
  // in the order of the ranks; after its update it sends the new parameter to the others.
  void sum_shared_gradients();
  void share_parameters();

  // The most of `count` micro-batches that have a session at a time.
  int64_t in_flight(int64_t count) const;
  // Of the last run.
  PipelineBubble bubble() const;
  // Whether this rank is the first of a replica that has the parameter.
  bool is_first_with(const std::string& parameter) const;

 private:
  struct Key {
    int64_t micro_batch = 0;
    size_t crossing = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct Begun {
    MicroBatchSessions* place = nullptr;
    engine::Session* session = nullptr;  // of its sessions
  };

  int rank_of(int part) const { return plan_.part_ranks[static_cast<size_t>(part)]; }
  engine::Session& begin(int64_t micro_batch, const Write& write);
  engine::Session& session_in(MicroBatchSessions& place, int64_t micro_batch) const;
  std::vector<std::byte> message_of(const Key& key) const;  // of its size
  size_t own_index(int part) const;
  size_t begin_of(size_t own_part) const;
  size_t end_of(size_t own_part) const;
  std::vector<graph::Value> finished_in(size_t own_part) const;
  void run_task(const PipelineTask& task, const Write& write);
  void send(engine::Session& session, const PipelineTask& task);
  void receive(engine::Session& session, const PipelineTask& task);
  std::vector<std::byte> taken(const Key& key);
  void expect_messages(int64_t count);
  // body(slice) of all slices of a variable in f32; true: the slice has changed.
  template <typename Body>
  void change_in_slices(const std::string& name, const Body& body);
  bool sum_on_first(std::span<const int> ranks, std::span<float> slice);
  bool give_to_others(std::span<const int> ranks, std::span<float> slice);

  passes::PipelinePlan plan_;
  PipelineSchedule schedule_;
  comm::Communicator& stages_;
  MicroBatchSessions& first_place_;
  engine::Session& first_;  // the full one there
  ReproducibleSums* sums_;
  std::vector<int> own_parts_;
  std::vector<std::vector<graph::Value>> finished_;  // for sums, by own part

  std::vector<std::vector<PipelineTask>> tasks_;  // by rank, of the last run
  int64_t most_ = -1;                             // its micro-batches
  std::vector<const data::MicroBatch*> micro_batches_;
  std::vector<std::unique_ptr<MicroBatchSessions>> others_;  // beside the first
  std::vector<MicroBatchSessions*> free_;
  std::map<int64_t, Begun> begun_;               // by micro-batch
  std::map<Key, std::vector<std::byte>> early_;  // arrived before they were needed
  std::vector<std::vector<Key>> expected_;       // by rank, in the order it sends them
  std::vector<size_t> arrived_;                  // of those, by rank
  double waited_seconds_ = 0.0;                  // in the last run
};

}  // namespace cloze::train
