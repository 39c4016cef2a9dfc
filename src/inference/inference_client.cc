#include "inference/inference_client.h"

#include <algorithm>
#include <bit>

#include "base/division.h"
#include "base/error.h"
#include "data/packer.h"
#include "engine/devices.h"
#include "feed/micro_batch_inputs.h"
#include "inference/inference_memory.h"
#include "platform/available_threads.h"

namespace cloze::inference {
namespace {

constexpr int64_t kFewestSlots = 16;

// The need of samples for a resource of which a micro-batch has `most`, or more for a single large
// sample.
struct Need {
  int64_t most = 0;
  int64_t total = 0;
  int64_t largest = 0;

  void add(int64_t count) {
    total += count;
    largest = std::max(largest, count);
  }
  // Room for all if they fit, else for an even share. With room for one sample beyond the share,
  // every micro-batch reaches its share before it is closed, so there is never one more than
  // needed.
  int64_t capacity() const {
    if (total <= most) return std::max<int64_t>(1, total);
    const int64_t shares = divide_up(total, most);
    return std::max(largest, std::min(most, total / shares + largest));
  }
};

int64_t power_of_two(int64_t value) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(value)));
}

models::BatchShape need_of(std::span<const data::Sample> samples, const models::BertHead& head) {
  Need tokens{.most = InferenceClient::kMostTokens};
  Need predictions{.most = InferenceClient::kMostPredictions};
  for (const data::Sample& sample : samples) {
    tokens.add(std::ssize(sample.input_ids));
    predictions.add(std::ssize(sample.masked_positions));
  }
  return {.tokens = tokens.capacity(),
          .sequences = std::min<int64_t>(std::ssize(samples), InferenceClient::kMostSequences),
          .predictions = head.traits().predicts_words() ? predictions.capacity() : 0};
}

models::BatchShape rounded_up(const models::BatchShape& need) {
  return {.tokens = slots_for(need.tokens),
          .sequences = power_of_two(need.sequences),
          .predictions = need.predictions > 0 ? power_of_two(need.predictions) : 0};
}

engine::SizedSessions sessions_of(const std::shared_ptr<const PackedModel>& model,
                                  int num_threads) {
  const models::BatchShape largest = largest_batch(model->config(), model->head());
  const engine::CompileOptions compile{.device = model->options().device,
                                       .target = {.threads = num_threads}};
  backend::Device& device = engine::device_named(compile.device);
  runtime::SharedMemory memory{.stream = device.make_stream(),
                               .arenas = {{plan::Arena::kParameters, model->weights()}}};
  return {std::make_unique<engine::Session>(engine::compile(model->graph(largest), compile), device,
                                            std::move(memory)),
          {.full = largest,
           .compile = compile,
           .make_graph = [model](const models::BatchShape& size) { return model->graph(size); },
           .round_up = rounded_up}};
}

std::shared_ptr<const PackedModel> with_head(std::shared_ptr<const PackedModel> model,
                                             models::HeadKind head) {
  model->pretrained().require_head(head);
  return model;
}

void check(const data::Sample& sample, const models::BertConfig& config) {
  const int64_t length = std::ssize(sample.input_ids);
  if (length < 1 || length > config.max_position_embeddings) {
    throw_user_error("a sequence has {} tokens; the model takes 1 to {}", length,
                     config.max_position_embeddings);
  }
  feed::require_rows(sample.input_ids, config.vocab_size, "token id");
  feed::require_rows(sample.token_type_ids, config.type_vocab_size, "token type (type_vocab_size)");
  feed::require_rows(sample.masked_positions, length, "masked position");
}

void check_predictions(const data::Sample& sample) {
  if (std::ssize(sample.masked_positions) > InferenceClient::kMostPredictions) {
    throw_user_error("a sequence has {} masked positions; {} are the most that one may have",
                     sample.masked_positions.size(), InferenceClient::kMostPredictions);
  }
}

int64_t num_predictions(std::span<const data::Sample> samples) {
  int64_t count = 0;
  for (const data::Sample& sample : samples) count += std::ssize(sample.masked_positions);
  return count;
}

}  // namespace

int64_t slots_for(int64_t tokens) {
  const int64_t step = power_of_two(std::max<int64_t>(tokens, 2 * kFewestSlots)) / 16;
  return round_up(std::max(tokens, kFewestSlots), std::max(kFewestSlots / 2, step));
}

InferenceClient::InferenceClient(std::shared_ptr<const PackedModel> model, int num_threads)
    : model_(std::move(model)),
      num_threads_(platform::resolved_threads(num_threads)),
      sessions_(sessions_of(model_, num_threads_)) {}

InferenceClient::InferenceClient(std::shared_ptr<const PackedModel> model, models::HeadKind head,
                                 int num_threads)
    : InferenceClient(with_head(std::move(model), head), num_threads) {}

std::span<const float> InferenceClient::output(std::string_view name) {
  std::vector<float>& values = outputs_[std::string(name)];
  current_->read<float>(name, values);
  return values;
}

void InferenceClient::run(std::span<const data::Sample> samples,
                          const std::function<void(const data::MicroBatch&)>& visit) {
  if (samples.empty()) return;
  const bool reads_predictions = model_->head().traits().predicts_words();
  for (const data::Sample& sample : samples) {
    check(sample, model_->config());
    if (reads_predictions) check_predictions(sample);
  }
  const models::BatchShape need = need_of(samples, model_->head());
  const auto [tokens, sequences, predictions] = sessions_.size_for(need);
  // Others are labels of fine-tuning: they take room in a micro-batch, and nothing reads them.
  const data::MicroBatchCapacity capacity{
      tokens, sequences, reads_predictions ? predictions : num_predictions(samples)};
  engine::Session& session = sessions_.holding(need);
  current_ = &session;
  for (const data::MicroBatch& batch : data::pack(samples, capacity).micro_batches) {
    feed::write_micro_batch(session, batch);
    session.run(graph::kMicroStep);
    if (observer_) observer_(batch);
    visit(batch);
  }
}

void InferenceClient::run_each(
    std::span<const data::Sample> samples,
    const std::function<void(size_t sample, std::span<const float> logits)>& visit) {
  const models::BertHead& head = model_->head();
  CLOZE_CHECK(!head.traits().predicts_words(), "{} has several outputs", head.traits().name);
  const models::HeadOutput& only = head.traits().outputs.front();
  const bool by_token = only.rows == models::OutputRows::kTokens;
  const int64_t width = only.width(model_->config(), head);
  run(samples, [&](const data::MicroBatch& batch) {
    const std::span<const float> logits = output(only.name);
    for (int64_t b = 0; b < batch.num_sequences; ++b) {
      const int64_t first = by_token ? batch.sequence_starts[b] : b;
      const int64_t rows = by_token ? batch.sequence_starts[b + 1] - first : 1;
      visit(batch.sequence_ids[b], logits.subspan(first * width, rows * width));
    }
  });
}

}  // namespace cloze::inference
