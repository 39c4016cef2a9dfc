// Writes what a step reads into sessions: its micro-batches, random key, loss scale, the factors
// that normalise its losses, and the learning rate of its update.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "data/micro_batch.h"
#include "engine/session.h"
#include "engine/sized_sessions.h"
#include "models/bert_config.h"
#include "optim/optimizer.h"

namespace cloze::feed {

// The input that losses are multiplied by.
inline constexpr const char* kLossGradient = "loss_gradient";

// A term of the loss, as models::bert_for_training names it.
struct LossTerm {
  std::string name;
  bool per_prediction = false;  // normalised by predictions, not by sequences
  bool has_accuracy = false;
  std::vector<float> class_weights = {};  // of the labels; empty: all are 1
};

// The sizes of the programs for micro-batches (engine/sized_sessions.h) are 1 to 8 eighths of the
// token and prediction slots of a full one. The choice depends only on the micro-batch: a resumed
// run continues as if it had not stopped, and all ranks of a pipeline choose alike.
inline constexpr int64_t kMicroBatchSizes = 8;
using MicroBatchSize = engine::SizedSessions::Size;
MicroBatchSize size_of(const data::MicroBatchCapacity& capacity);
MicroBatchSize size_of(const data::MicroBatch& micro_batch);
// The fewest eighths of `full` that hold `need`.
MicroBatchSize eighths_for(const MicroBatchSize& need, const MicroBatchSize& full);
// The memory that the sessions of all smaller sizes take beside the full one's, without code that
// oneDNN makes for more shapes.
int64_t smaller_sessions_bytes(const plan::Program& full);

class StepInputs {
 public:
  // `sessions`: of the step; outlive it.
  StepInputs(engine::SizedSessions& sessions, const models::BertConfig& model, uint32_t seed,
             std::vector<LossTerm> terms, std::vector<optim::RateInput> rates);

  // All but the micro-batches, into the full session. The batch is read until the next call.
  // UserError, before anything is written, for an id, a segment or a position that the model lacks.
  void begin(const data::StepBatch& batch, int64_t step, float loss_scale);
  // Passes of the step, of all ranks; every pass of synthetic data has the inputs of the first.
  int64_t num_passes() const { return batch_->num_passes(); }
  const data::MicroBatch& micro_batch(int64_t pass) const { return batch_->of_pass(pass); }
  // The session for a pass, of these sessions, with all its inputs.
  engine::Session& session_with(int64_t pass) { return session_with(pass, sessions_); }
  engine::Session& session_with(int64_t pass, engine::SizedSessions& sessions);
  // The gradients of the vectors of the step's texts (models/vector_loss.h), [sequences, D] by their
  // number in the step, for the passes that follow. begin() drops them.
  void set_vector_gradients(std::vector<float> gradients) {
    vector_gradients_ = std::move(gradients);
  }
  // Those of the update, into the full session. Step numbers count from 0.
  void write_update(int64_t step, double learning_rate);

 private:
  void require_rows() const;
  void write_step(engine::Session& session) const;
  void write_vector_gradients(engine::Session& session, const data::MicroBatch& micro_batch) const;

  engine::SizedSessions& sessions_;
  int32_t seed_;
  std::vector<LossTerm> terms_;
  std::vector<optim::RateInput> rates_;
  int64_t vocabulary_, segments_, positions_;  // rows of the embeddings
  const data::StepBatch* batch_ = nullptr;
  int64_t step_ = 0;
  float loss_scale_ = 1.0f;
  std::vector<float> vector_gradients_;             // empty: there are none
  const engine::Session* has_synthetic_ = nullptr;  // the micro-batch of synthetic data
};

// 1 / the number of predictions or sequences that a term of the loss is a mean over; 1 without any.
double share_of_each(const LossTerm& term, const data::StepBatch& batch);
// The factor of a term: that or, where classes have weights, 1 / the sum of those of the step's
// labels; 1 where that is 0.
double normalizer_of(const LossTerm& term, const data::StepBatch& batch);

}  // namespace cloze::feed
