// One optimiser step of BERT pre-training, compiled: the graph, its passes and its session.
//
//   k x (forward, backward, accumulate)  ->  clip, update  ->  refresh compute copies
//
// What a step computes is a function of (parameters, optimiser state, samples, seed, step): not of
// how the samples were packed.
#pragma once

#include <cstdint>
#include <string>

#include "data/micro_batch.h"
#include "engine/session.h"
#include "models/bert_config.h"
#include "optim/optimizer.h"

namespace cloze::train {

struct TrainingStepOptions {
  models::BertConfig model;
  data::MicroBatchCapacity capacity;
  optim::OptimizerOptions optimizer;
  DType compute_dtype = DType::kF32;  // kF32 or kBF16
  uint32_t seed = 0;                  // of dropout
  engine::CompileOptions compile;
};

// Sums over the step, already normalised: means over predictions (MLM) and sequences (NSP).
struct StepResult {
  double mlm_loss = 0.0;
  double nsp_loss = 0.0;
  double mlm_accuracy = 0.0;
  double nsp_accuracy = 0.0;
  double gradient_norm = 0.0;  // before clipping; when it is not finite nothing was updated

  double loss() const { return mlm_loss + nsp_loss; }
};

// The whole training graph after all passes, for compile() and `cloze plan`.
graph::Graph training_graph(const TrainingStepOptions& options);

class TrainingStep {
 public:
  explicit TrainingStep(const TrainingStepOptions& options);

  // Step numbers count from 0; the update's index is step + 1.
  StepResult run(const data::StepBatch& batch, int64_t step, double learning_rate);
  // The micro-batches only: gradients stay in the session, nothing is updated or cleared.
  StepResult accumulate(const data::StepBatch& batch, int64_t step);
  void update(int64_t step, double learning_rate);

  engine::Session& session() { return session_; }

 private:
  uint32_t seed_;
  engine::Session session_;
};

}  // namespace cloze::train
