// Computes a rank's part of a step, and exchanges with the others: one strategy for each layout of
// ranks.
//
//   alone                  every micro-batch; nothing is exchanged
//   eager                  likewise, up to the first operator that writes what is not finite
//   replicas               every size-th micro-batch; gradients are summed beside the last one
//                          (gradient_exchange.h)
//   reproducible replicas  likewise, in rounds after every micro-batch (reproducible_sums.h)
//   pipeline               parts of micro-batches (pipeline_step.h), with one of the above between
//                          the replicas of a stage
//
// A step is begin(), compute(), finish(), update(). Replicas may divide the optimiser states: then
// each updates a part of the parameters and gives it to the others.
//
// Errors: what the communicator throws. One thread calls it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "engine/session.h"
#include "engine/sized_sessions.h"
#include "feed/step_inputs.h"
#include "passes/pipeline.h"
#include "train/metrics/communication_time.h"
#include "train/metrics/pipeline_bubble.h"
#include "train/ranks/pipeline_schedule.h"
#include "train/ranks/step_ranks.h"

namespace cloze::train {

// The way in which a step is shared.
struct StepLayout {
  bool is_eager = false;
  bool reproducible_sums = false;
  bool divides_states = false;
  DType gradient_transport = DType::kF32;
  // By gradient of the graph, the replica that updates its parameter; -1: another stage does.
  std::vector<int> owners;
  // By gradient, its number in the whole model; -1 for those that this rank does not update.
  std::vector<int32_t> norm_numbers;
  std::optional<passes::PipelinePlan> pipeline;
  PipelineSchedule schedule = PipelineSchedule::kInterleaved;
};

class StepExchange {
 public:
  // Session and ranks outlive it.
  StepExchange(engine::Session& session, const StepRanks& ranks)
      : session_(session), ranks_(ranks) {}
  virtual ~StepExchange() = default;
  StepExchange(const StepExchange&) = delete;
  StepExchange& operator=(const StepExchange&) = delete;

  // Prepares a step.
  virtual void begin() {}
  // Before compute(): the launches of this rank's only micro-batch that have run, so that it need not
  // run them again.
  void go_on_after(size_t launches) { launches_done_ = launches; }
  // Computes this rank's micro-batches.
  virtual void compute(feed::StepInputs& inputs);
  // Sums over the ranks: the session then has the metrics of all, and their gradients as far as
  // this rank updates with them.
  virtual void finish() { sum_metrics_over(ranks_.all()); }
  // Updates; all ranks that hold a parameter have the same afterwards, and the same
  // optim::kGradientNorm and optim::kUpdateCheck.
  void update();

  // Between begin() and finish(), for compute(): after a round of the replicas' micro-batches, of
  // which this rank has one or none, or of a part of them that added to these variables last.
  virtual void after_micro_batch() {}
  virtual void after_part(std::span<const graph::Value> /*variables*/) {}
  // For update(): whether the norm in the session lacks other ranks' gradients; that of all; and
  // the update's launches from `done` on, with what ranks give each other afterwards.
  virtual bool shares_norm() const { return ranks_.stages().size() > 1; }
  virtual float norm(float own);
  virtual void share_update(size_t done);

  // Reads a parameter of the whole model, from element `first` on; all ranks call it together.
  virtual void read_parameter(const std::string& name, int64_t first, std::span<float> values);
  // The time of the exchanges since the last call; nothing where there are no other replicas.
  virtual std::optional<CommunicationTime> take_time() { return std::nullopt; }
  // The time that this rank waited for other stages in the last step; nothing without a pipeline.
  virtual std::optional<PipelineBubble> bubble() const { return std::nullopt; }
  // Where an eager step stopped.
  virtual std::optional<runtime::NonFiniteOutput> non_finite() const { return std::nullopt; }
  // The number of a step's micro-batches that have inputs and activations at a time.
  virtual int64_t in_flight(int64_t /*micro_batches*/) const { return 1; }

 protected:
  engine::Session& session() const { return session_; }
  const StepRanks& ranks() const { return ranks_; }
  virtual void run(engine::Session& micro_batch, bool is_last);
  void sum_metrics_over(comm::Communicator& ranks);

 private:
  engine::Session& session_;
  const StepRanks& ranks_;
  size_t launches_done_ = 0;
};

// The launches of a phase after which a value of this name is known.
size_t launches_to(const graph::Graph& graph, std::string_view phase, std::string_view name);

// `sessions`: their full one is the session. All but the layout outlive the exchange.
std::unique_ptr<StepExchange> make_step_exchange(engine::SizedSessions& sessions,
                                                 const StepRanks& ranks, StepLayout layout);

}  // namespace cloze::train
