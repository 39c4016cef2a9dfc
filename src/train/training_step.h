// One optimiser step of BERT with a head: its graph (train/training_graph.h), compiled, and run.
//
//   k x (forward, backward, accumulate)  ->  clip, update
//
// What a step computes is a function of (parameters, optimiser state, samples, seed, step).
// Rounding aside, it does not depend on how the samples were packed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "data/micro_batch.h"
#include "engine/session.h"
#include "runtime/arena_snapshots.h"
#include "train/metrics/loss_value.h"
#include "train/micro_batch_sizes.h"
#include "train/ranks/step_exchange.h"
#include "train/ranks/step_ranks.h"
#include "train/step_inputs.h"
#include "train/training_graph.h"

namespace cloze::train {

struct StepResult {
  // As models::bert_for_training lists them. Of an eager step that stopped before its update they
  // are not numbers.
  std::vector<LossValue> losses;
  double gradient_norm = 0.0;    // before clipping, without the loss scale
  bool update_is_finite = true;  // all that the update wrote is; if not, gradients stay to be seen
  std::optional<CommunicationTime> communication;  // of several ranks, up to now
  std::optional<PipelineBubble> bubble;            // of a pipeline

  double loss() const;  // their sum: what is minimised
  // Of losses and norm; if they are not, nothing was updated.
  bool is_finite() const;
};

// A step whose results the host may look at later.
struct StepAhead {
  const data::StepBatch* batch = nullptr;
  int64_t step = 0;  // counted from 0
  double learning_rate = 0.0;
  double loss_scale = 1.0;
};

class TrainingStep {
 public:
  using MakeGraph = std::function<graph::Graph(const MicroBatchSize& size)>;
  explicit TrainingStep(const TrainingStepOptions& options);
  // Of a graph that the caller has made. Without make_smaller every micro-batch goes through all its
  // slots.
  TrainingStep(TrainingGraph training, const TrainingStepOptions& options,
               MakeGraph make_smaller = nullptr);

  // Of the steps from now on (watch/loss_scale.h); gradients in the session are too large by this
  // factor.
  void set_loss_scale(double scale) { loss_scale_ = static_cast<float>(scale); }
  // Step numbers count from 0; the index of the update is step + 1. Throws Interruption between two
  // micro-batches when a signal asks to stop: then nothing was updated, and the caller has to clear
  // the gradients. Several ranks do not throw it; they stop together after a step.
  StepResult run(const data::StepBatch& batch, int64_t step, double learning_rate);
  // The same for several steps of one rank, one after the other: the host looks at no result before
  // the last step has run. A step after one that is not finite runs as usual; no gradients are left
  // in the session. Interruption only in the first step; one in a later step leaves the results of
  // the steps before it.
  std::vector<StepResult> run_ahead(std::span<const StepAhead> steps);
  // The two halves of a step: the micro-batches, whose gradients stay in the session; and the
  // update, which completes the result and clears them. UserError, before anything is computed, for
  // an id, a segment or a position that the model lacks.
  StepResult accumulate(const data::StepBatch& batch, int64_t step);
  void finish(StepResult& result, int64_t step, double learning_rate);
  // Only the update.
  void update(int64_t step, double learning_rate);
  void clear_gradients() { session_.clear(plan::Arena::kGradients); }

  // After a step that is not finite: computes it again, operator by operator, up to the first
  // operator that writes a number that is not finite. Nothing when all numbers are finite the
  // second time. Never updates a parameter; the gradients that it computes stay. For an eager step
  // the answer is already known.
  std::optional<runtime::NonFiniteOutput> find_non_finite(const data::StepBatch& batch,
                                                          int64_t step);

  // Ranks have different tensors: parts of the model, or the states of parts.
  bool is_divided() const { return shards_states_ || is_pipeline(); }
  bool is_pipeline() const { return ranks_.stages().size() > 1; }
  // Reads a parameter of the whole model, from element `first` on, on all ranks; all call it
  // together.
  void read_parameter(const std::string& name, int64_t first, std::span<float> values) {
    exchange_->read_parameter(name, first, values);
  }
  // For each gradient of the graph, whether this rank is the one that reports it.
  std::vector<bool> own_gradients() const;
  comm::Communicator& ranks() { return ranks_.all(); }
  // Of a step's micro-batches, so many have inputs and activations at a time.
  int64_t in_flight(int64_t micro_batches) const { return exchange_->in_flight(micro_batches); }

  engine::Session& session() { return session_; }
  const engine::Session& session() const { return session_; }

 private:
  void compute(const data::StepBatch& batch, int64_t step);
  StepResult read_losses(const data::StepBatch& batch);
  void read_update(StepResult& result);

  StepRanks ranks_;
  bool shards_states_;
  std::vector<int> owners_;  // by gradient of the graph, the replica that updates its parameter
  std::vector<LossTerm> terms_;
  float loss_scale_ = 1.0f;
  engine::Session session_;
  engine::SizedSessions sessions_;
  StepInputs inputs_;
  std::unique_ptr<StepExchange> exchange_;
  runtime::ArenaSnapshots metrics_behind_{session_.executor(), plan::Arena::kMetrics};
};

}  // namespace cloze::train
