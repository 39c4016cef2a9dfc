#include "inference/inference_session.h"

#include <algorithm>

#include "data/packer.h"
#include "inference/inference_graph.h"
#include "inference/micro_batch_inputs.h"
#include "inference/parameter_loading.h"

namespace cloze::inference {
namespace {

// How many micro-batches' worth of short samples are packed together: more fill better, and wait
// longer for the first result.
constexpr int64_t kMicroBatchesPackedTogether = 16;

data::MicroBatchCapacity capacity_of(const models::BertConfig& config, const models::BertHead& head,
                                     const InferenceOptions& options) {
  const bool predicts_tokens = head.kind == models::HeadKind::kPretraining;
  return {.tokens = std::max(options.tokens_per_micro_batch, config.max_position_embeddings),
          .sequences = options.sequences_per_micro_batch,
          .predictions = predicts_tokens ? options.predictions_per_micro_batch : 0};
}

}  // namespace

InferenceSession::InferenceSession(const models::BertConfig& config, const models::BertHead& head,
                                   const InferenceOptions& options)
    : capacity_(capacity_of(config, head, options)),
      session_(inference_graph(config, head,
                               {capacity_.tokens, capacity_.sequences, capacity_.predictions},
                               {.backend = options.compile.backend}),
               options.compile) {}

void InferenceSession::load(const std::filesystem::path& path) { load_parameters(session_, path); }

void InferenceSession::copy_parameters(engine::Session& from) {
  for (const WantedTensor& tensor :
       wanted_tensors(session_.graph(), graph::VariableRole::kParameter)) {
    session_.write<float>(tensor.name, from.values<float>(tensor.name));
  }
  session_.refresh();
}

void InferenceSession::run(std::span<const data::Sample> samples,
                           const std::function<void(const data::MicroBatch&)>& visit) {
  const auto chunk = static_cast<size_t>(capacity_.sequences * kMicroBatchesPackedTogether);
  for (size_t first = 0; first < samples.size(); first += chunk) {
    const auto some = samples.subspan(first, std::min(chunk, samples.size() - first));
    const data::StepBatch step = data::pack(some, capacity_, static_cast<int64_t>(first));
    for (const data::MicroBatch& batch : step.micro_batches) {
      write_micro_batch(session_, batch);
      session_.run(graph::Phase::kMicroStep);
      visit(batch);
    }
  }
}

}  // namespace cloze::inference
