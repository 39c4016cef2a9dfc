#include "feed/step_inputs.h"

#include <algorithm>
#include <utility>

#include "base/division.h"
#include "feed/micro_batch_inputs.h"
#include "models/bert.h"
#include "models/vector_loss.h"

namespace cloze::feed {

MicroBatchSize size_of(const data::MicroBatchCapacity& capacity) {
  return {capacity.tokens, capacity.sequences, capacity.predictions};
}

MicroBatchSize size_of(const data::MicroBatch& micro_batch) {
  return {micro_batch.num_tokens, micro_batch.num_sequences, micro_batch.num_predictions};
}

// Places for sequences cost next to nothing.
MicroBatchSize eighths_for(const MicroBatchSize& need, const MicroBatchSize& full) {
  for (int64_t eighths = 1; eighths < kMicroBatchSizes; ++eighths) {
    const auto part = [&](int64_t slots) { return divide_up(slots * eighths, kMicroBatchSizes); };
    const MicroBatchSize size{part(full.tokens), full.sequences, part(full.predictions)};
    if (need.tokens <= size.tokens && need.predictions <= size.predictions) return size;
  }
  return full;
}

int64_t smaller_sessions_bytes(const plan::Program& full) {
  constexpr int64_t kSmaller = kMicroBatchSizes - 1;
  constexpr int64_t kNodeBytes = 2700;  // measured: of a graph, its launches and their kernels
  // They have 1, 2, ... 7 eighths of the inputs.
  const int64_t inputs = full.bytes_of(plan::Arena::kInputs) + runtime::input_image_bytes(full);
  return kSmaller * std::ssize(full.graph.nodes()) * kNodeBytes + kSmaller * inputs / 2;
}

double share_of_each(const LossTerm& term, const data::StepBatch& batch) {
  const int64_t count = term.per_prediction ? batch.num_predictions : batch.num_sequences;
  return 1.0 / static_cast<double>(std::max<int64_t>(count, 1));
}

double normalizer_of(const LossTerm& term, const data::StepBatch& batch) {
  if (term.class_weights.empty()) return share_of_each(term, batch);
  const auto labels =
      term.per_prediction ? &data::MicroBatch::masked_labels : &data::MicroBatch::class_labels;
  double sum = 0.0;
  for (const data::MicroBatch& micro_batch : batch.micro_batches) {
    for (const int32_t label : micro_batch.*labels) {
      if (label >= 0) sum += term.class_weights.at(static_cast<size_t>(label));
    }
  }
  sum *= static_cast<double>(batch.passes());
  return sum > 0.0 ? 1.0 / sum : 1.0;
}

StepInputs::StepInputs(engine::SizedSessions& sessions, const models::BertConfig& model,
                       uint32_t seed, std::vector<LossTerm> terms,
                       std::vector<optim::RateInput> rates)
    : sessions_(sessions),
      seed_(static_cast<int32_t>(seed)),
      terms_(std::move(terms)),
      rates_(std::move(rates)),
      vocabulary_(model.vocab_size),
      segments_(model.type_vocab_size),
      positions_(model.max_position_embeddings) {}

void StepInputs::begin(const data::StepBatch& batch, int64_t step, float loss_scale) {
  batch_ = &batch;
  step_ = step;
  loss_scale_ = loss_scale;
  vector_gradients_.clear();
  require_rows();
  write_step(sessions_.full());
}

void StepInputs::require_rows() const {
  for (const data::MicroBatch& micro_batch : batch_->micro_batches) {
    feed::require_rows(micro_batch.input_ids, vocabulary_, "token id");
    feed::require_rows(micro_batch.token_type_ids, segments_, "token type (type_vocab_size)");
    feed::require_rows(micro_batch.position_ids, positions_, "position");
  }
}

void StepInputs::write_step(engine::Session& session) const {
  if (session.has(kLossGradient)) {  // not when evaluating
    const int32_t key[] = {seed_, static_cast<int32_t>(step_)};
    session.write<int32_t>(models::kRandomKey, key);
    session.write_scalar(kLossGradient, loss_scale_);
  }
  for (const LossTerm& term : terms_) {
    const std::string normalizer = term.name + "_normalizer";
    if (!session.has(normalizer)) continue;  // each prediction has its own
    session.write_scalar(normalizer, static_cast<float>(normalizer_of(term, *batch_)));
    if (term.class_weights.empty()) continue;
    session.write<float>(term.name + "_class_weights", term.class_weights);
  }
}

engine::Session& StepInputs::session_with(int64_t pass, engine::SizedSessions& sessions) {
  const data::MicroBatch& micro_batch = this->micro_batch(pass);
  engine::Session& session = sessions.holding(size_of(micro_batch));
  if (&session != &sessions_.full()) write_step(session);  // the full one has them
  const bool is_synthetic = batch_->synthetic_passes > 0;
  if (!is_synthetic || has_synthetic_ != &session) write_micro_batch(session, micro_batch);
  has_synthetic_ = is_synthetic ? &session : nullptr;
  if (!vector_gradients_.empty()) write_vector_gradients(session, micro_batch);
  return session;
}

// Places without a sequence get zeros.
void StepInputs::write_vector_gradients(engine::Session& session,
                                        const data::MicroBatch& micro_batch) const {
  const graph::Value input = session.value(models::kVectorGradients);
  const Shape& shape = session.graph().type(input).shape;
  const auto width = static_cast<size_t>(shape[1]);
  std::vector<float> rows(static_cast<size_t>(shape.elements()));
  for (int64_t b = 0; b < micro_batch.num_sequences; ++b) {
    const auto number = static_cast<size_t>(micro_batch.sequence_ids[b]);
    const auto row = std::span(vector_gradients_).subspan(number * width, width);
    std::ranges::transform(row, rows.begin() + b * shape[1],
                           [&](float value) { return loss_scale_ * value; });
  }
  session.write<float>(models::kVectorGradients, rows);
}

void StepInputs::write_update(int64_t step, double learning_rate) {
  engine::Session& full = sessions_.full();
  for (const optim::RateInput& rate : rates_) {
    full.write_scalar(rate.name, static_cast<float>(rate.factor * learning_rate));
  }
  full.write_scalar(optim::kUpdateIndex, static_cast<int32_t>(step + 1));
}

}  // namespace cloze::feed
