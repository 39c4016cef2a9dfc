#include "serve/forms/info_endpoints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <utility>

#include "checkpoints/sentence_folder.h"
#include "inference/inference_client.h"

namespace cloze::serve {
namespace {

using formats::Json;

// TEI knows embeddings, classifiers, and rerankers, which have one class.
Json model_type(const models::BertHead& head) {
  if (head.kind == models::HeadKind::kEmbedding) {
    std::vector<std::string_view> names;
    for (const ops::PoolingMode mode : head.embedding.pooling) {
      names.push_back(checkpoints::pooling_name(mode));
    }
    const std::string pooling = fmt::format("{}", fmt::join(names, "+"));
    return Json::object({{"embedding", Json::object({{"pooling", pooling}})}});
  }
  if (!head.traits().has_labels) return Json::object({{head.traits().name, Json::object()}});
  Json names = Json::object(), numbers = Json::object();
  for (size_t i = 0; i < head.labels.size(); ++i) {
    names[fmt::format("{}", i)] = head.labels[i];
    numbers[head.labels[i]] = i;
  }
  const char* const type = head.labels.size() == 1 ? "reranker" : "classifier";
  return Json::object({{type, {{"id2label", std::move(names)}, {"label2id", std::move(numbers)}}}});
}

Json info_of(const EndpointContext& context) {
  const Limits& limits = context.limits;
  const bool is_bf16 = context.model->options().precision == DType::kBF16;
  return {{"model_id", context.name},
          {"model_sha", nullptr},
          {"model_dtype", is_bf16 ? "bfloat16" : "float32"},
          {"served_model_name", context.name},
          {"model_type", model_type(context.head())},
          {"max_concurrent_requests", limits.queue.waiting_inputs},
          {"max_input_length", context.model->pretrained().sentences.max_length.value_or(
                                   context.model->config().max_position_embeddings)},
          {"max_batch_tokens", inference::InferenceClient::kMostTokens},
          {"max_batch_requests", limits.queue.batch_inputs},
          {"max_client_batch_size", limits.inputs_per_request},
          {"auto_truncate", context.truncates},
          {"tokenization_workers", 1},
          {"version", "1.9.0"},
          {"sha", nullptr},
          {"docker_label", nullptr}};
}

}  // namespace

Endpoint tei_info(const EndpointContext& context) {
  return {.summary = "Say what the model and the limits are, as TEI does",
          .reply = "The model's name and type, and limits under TEI's names",
          .errors = ErrorForm::kTei,
          .get = [response = json_response(info_of(context))] { return response; }};
}

Endpoint openai_models(const EndpointContext& context) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const Json list = {
      {"object", "list"},
      {"data", Json::array({Json::object(
                   {{"id", context.name},
                    {"object", "model"},
                    {"created", std::chrono::duration_cast<std::chrono::seconds>(now).count()},
                    {"owned_by", "cloze"}})})}};
  return {.summary = "List the model, as OpenAI does",
          .reply = "{\"object\": \"list\", \"data\": [{\"id\", \"object\": \"model\"}]}",
          .errors = ErrorForm::kOpenAi,
          .get = [response = json_response(list)] { return response; }};
}

}  // namespace cloze::serve
