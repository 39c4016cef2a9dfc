#include "inference/inference_client.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "data/packer.h"
#include "inference/micro_batch_inputs.h"

namespace cloze::inference {
namespace {

constexpr size_t kMostShapes = 32;
constexpr int64_t kFewestSlots = 16;

int64_t round_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }
int64_t power_of_two(int64_t value) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(value)));
}

data::MicroBatchCapacity capacity_for(std::span<const data::Sample> samples,
                                      const models::BertHead& head) {
  int64_t tokens = 0;
  int64_t longest = 0;
  int64_t predictions = 0;
  for (const data::Sample& sample : samples) {
    tokens += std::ssize(sample.input_ids);
    longest = std::max<int64_t>(longest, std::ssize(sample.input_ids));
    predictions += std::ssize(sample.masked_positions);
  }
  const int64_t most = std::max(InferenceClient::kMostTokens, longest);
  const bool predicts_tokens = head.kind == models::HeadKind::kPretraining;
  return {.tokens = slots_for(std::min(tokens, most)),
          .sequences = power_of_two(std::ssize(samples)),
          .predictions = predicts_tokens ? power_of_two(std::max<int64_t>(1, predictions)) : 0};
}

void check(const data::Sample& sample, const models::BertConfig& config) {
  const int64_t length = std::ssize(sample.input_ids);
  if (length < 1 || length > config.max_position_embeddings) {
    throw_user_error("a sequence has {} tokens; the model takes 1 to {}", length,
                     config.max_position_embeddings);
  }
  const auto check_ids = [](std::span<const int32_t> ids, int64_t most, const char* what) {
    const auto bad = std::ranges::find_if(ids, [&](int32_t id) { return id < 0 || id >= most; });
    if (bad != ids.end()) throw_user_error("{} {}; the model has 0 to {}", what, *bad, most - 1);
  };
  check_ids(sample.input_ids, config.vocab_size, "token id");
  check_ids(sample.token_type_ids, config.type_vocab_size, "token type");
  check_ids(sample.masked_positions, length, "masked position");
}

}  // namespace

int64_t slots_for(int64_t tokens) {
  const int64_t step = power_of_two(std::max<int64_t>(tokens, 2 * kFewestSlots)) / 16;
  return round_up(std::max(tokens, kFewestSlots), std::max(kFewestSlots / 2, step));
}

InferenceClient::InferenceClient(std::shared_ptr<const CompiledModel> model, int num_threads)
    : model_(std::move(model)), num_threads_(engine::resolved_threads(num_threads)) {}

engine::Session& InferenceClient::session_for(const data::MicroBatchCapacity& capacity) {
  const auto found = std::find_if(shapes_.begin(), shapes_.end(), [&](const CompiledShape& shape) {
    return shape.capacity == capacity;
  });
  if (found != shapes_.end()) {
    shapes_.splice(shapes_.begin(), shapes_, found);
    return *shapes_.front().session;
  }
  if (shapes_.size() == kMostShapes) shapes_.pop_back();
  graph::Graph graph = model_->graph({capacity.tokens, capacity.sequences, capacity.predictions});
  plan::Program program = engine::compile(std::move(graph), {.num_threads = num_threads_});
  shapes_.push_front(
      {capacity, std::make_unique<engine::Session>(std::move(program), model_->weights())});
  return *shapes_.front().session;
}

void InferenceClient::run(std::span<const data::Sample> samples,
                          const std::function<void(const data::MicroBatch&)>& visit) {
  if (samples.empty()) return;
  for (const data::Sample& sample : samples) check(sample, model_->config());
  const data::MicroBatchCapacity capacity = capacity_for(samples, model_->head());
  engine::Session& session = session_for(capacity);
  current_ = &session;
  for (const data::MicroBatch& batch : data::pack(samples, capacity).micro_batches) {
    write_micro_batch(session, batch);
    session.run(graph::Phase::kMicroStep);
    visit(batch);
  }
}

}  // namespace cloze::inference
