#include "inference/inference_memory.h"

#include <algorithm>

#include "engine/session.h"
#include "inference/inference_client.h"

namespace cloze::inference {
namespace {

// The largest parameter is read whole, and copied to the device to be packed there.
int64_t loading_bytes(const models::BertConfig& config) {
  const int64_t rows = std::max(config.vocab_size, config.intermediate_size);
  return 2 * rows * config.hidden_size * static_cast<int64_t>(sizeof(float));
}

}  // namespace

models::BatchShape largest_batch(const models::BertConfig& config, const models::BertHead& head) {
  return {.tokens = slots_for(
              std::max<int64_t>(InferenceClient::kMostTokens, config.max_position_embeddings)),
          .sequences = InferenceClient::kMostSequences,
          .predictions = head.traits().predicts_words() ? InferenceClient::kMostPredictions : 0};
}

InferenceMemory inference_memory(const models::BertConfig& config, const models::BertHead& head,
                                 const PackOptions& options, int num_threads) {
  const plan::Program program =
      engine::compile(packed_graph(config, head, largest_batch(config, head), options),
                      {.device = options.device, .target = {.threads = num_threads}});
  const int64_t weights = program.bytes_of(plan::Arena::kParameters);
  return {.weights_bytes = weights,
          .loading_bytes = loading_bytes(config),
          .batch_bytes = program.total_bytes() - weights + runtime::input_image_bytes(program)};
}

}  // namespace cloze::inference
