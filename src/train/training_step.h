// One optimiser step of BERT with a head, compiled: the graph, its passes and its session.
//
//   k x (forward, backward, accumulate)  ->  clip, update  ->  refresh compute copies
//
// What a step computes is a function of (parameters, optimiser state, samples, seed, step): not of
// how the samples were packed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/micro_batch.h"
#include "engine/session.h"
#include "models/bert_config.h"
#include "models/bert_heads.h"
#include "optim/optimizer.h"
#include "train/loss_value.h"

namespace cloze::train {

struct TrainingStepOptions {
  models::BertConfig model;
  models::BertHead head;
  data::MicroBatchCapacity capacity;
  optim::OptimizerOptions optimizer;
  DType compute_dtype = DType::kF32;  // kF32 or kBF16
  uint32_t seed = 0;                  // of dropout
  engine::CompileOptions compile;
};

struct StepResult {
  std::vector<LossValue> losses;  // as models::bert_for_training lists them
  double gradient_norm = 0.0;     // before clipping; when it is not finite nothing was updated

  double loss() const;  // their sum: what is minimised
};

// A term of the loss, as models::bert_for_training names it.
struct LossTerm {
  std::string name;
  bool per_prediction = false;  // normalised by predictions, not by sequences
  bool has_accuracy = false;
};

// The whole training graph after all passes, for compile() and `cloze plan`.
struct TrainingGraph {
  graph::Graph graph;
  std::vector<LossTerm> terms;
};
TrainingGraph training_graph(const TrainingStepOptions& options);

class TrainingStep {
 public:
  explicit TrainingStep(const TrainingStepOptions& options);

  // Step numbers count from 0; the update's index is step + 1.
  StepResult run(const data::StepBatch& batch, int64_t step, double learning_rate);
  // UserError, before anything is computed, for an id, a segment or a position that the model
  // lacks. The micro-batches only: gradients stay in the session, nothing is updated or cleared.
  StepResult accumulate(const data::StepBatch& batch, int64_t step);
  void update(int64_t step, double learning_rate);

  engine::Session& session() { return session_; }

 private:
  TrainingStep(TrainingGraph training, const TrainingStepOptions& options);

  models::BertConfig model_;
  uint32_t seed_;
  std::vector<LossTerm> terms_;
  engine::Session session_;
};

}  // namespace cloze::train
