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
#include "feed/step_inputs.h"
#include "runtime/arena_copy.h"
#include "train/metrics/loss_value.h"
#include "train/ranks/step_exchange.h"
#include "train/ranks/step_ranks.h"
#include "train/training_graph.h"
#include "train/vector_gradients.h"

namespace cloze::train {

struct StepResult {
  // The terms as models::bert_for_training lists them. If an eager step stopped before its update
  // they are not numbers.
  std::vector<LossValue> losses;
  double gradient_norm = 0.0;    // before clipping, without the loss scale
  bool update_is_finite = true;  // all that the update wrote is; if not, gradients stay to be seen
  std::optional<CommunicationTime> communication;  // of several ranks, up to now
  std::optional<PipelineBubble> bubble;            // of a pipeline

  double loss() const;  // their sum: what is minimised
  // Says whether losses and norm are finite; if not, nothing was updated.
  bool is_finite() const;
};

// A step that the device is given.
struct StepAhead {
  const data::StepBatch* batch = nullptr;  // lives until the results have been taken
  int64_t step = 0;                        // counted from 0; the index of the update is step + 1
  double learning_rate = 0.0;
  double loss_scale = 1.0;  // watch/loss_scale.h; gradients in the session are larger by it
};

class TrainingStep {
 public:
  using MakeGraph = std::function<graph::Graph(const feed::MicroBatchSize& size)>;
  explicit TrainingStep(const TrainingStepOptions& options);
  // A step of a graph that the caller has made. Without make_smaller every micro-batch goes through
  // all its slots.
  TrainingStep(TrainingGraph training, const TrainingStepOptions& options,
               MakeGraph make_smaller = nullptr);

  // Gives the device a step in two halves: the micro-batches, whose gradients stay in the session
  // until the next begin(); and the update. Throws UserError, before anything is computed, for an
  // id, a segment or a position that the model lacks; Interruption between two micro-batches when a
  // signal asks to stop: then nothing is updated. Several ranks do not throw it; they stop together
  // after a step.
  void begin(const StepAhead& step);
  void finish();
  // Between them: the result as far as it is known, the losses.
  StepResult losses();
  // The results of the steps finished since the last call, in their order. So the device may be
  // given several steps before the host looks at one; those after a step that is not finite have
  // run as usual.
  std::vector<StepResult> take_results();

  // The same for one step, with the loss scale set.
  StepResult run(const data::StepBatch& batch, int64_t step, double learning_rate);
  StepResult accumulate(const data::StepBatch& batch, int64_t step);
  void update(int64_t step, double learning_rate);
  void set_loss_scale(double scale) { current_.loss_scale = scale; }

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
  // The number of a step's micro-batches that have inputs and activations at a time.
  int64_t in_flight(int64_t micro_batches) const { return exchange_->in_flight(micro_batches); }

  engine::Session& session() { return session_; }
  const engine::Session& session() const { return session_; }

 private:
  void write_inputs(const data::StepBatch& batch, int64_t step);
  runtime::ArenaCopy& copy_metrics();
  void compute();
  StepResult losses_in(runtime::ArenaCopy& metrics, const StepAhead& step);
  StepResult result_in(runtime::ArenaCopy& metrics, const StepAhead& step);

  StepRanks ranks_;
  bool shards_states_;
  std::vector<int> owners_;  // by gradient of the graph, the replica that updates its parameter
  std::vector<LossTerm> terms_;
  engine::Session session_;
  engine::SizedSessions sessions_;
  feed::StepInputs inputs_;
  std::unique_ptr<StepExchange> exchange_;
  std::optional<VectorGradients> vectors_;  // where the loss is one of vectors
  StepAhead current_;
  std::vector<StepAhead> finished_;                           // their results have not been taken
  std::vector<std::unique_ptr<runtime::ArenaCopy>> metrics_;  // of those, and of the current step
};

}  // namespace cloze::train
