#include "checkpoints/stored_head.h"

#include <fmt/format.h>

#include <algorithm>

#include "checkpoints/hugging_face_config.h"
#include "checkpoints/sentence_folder.h"
#include "checkpoints/stored_model.h"
#include "formats/json.h"

namespace cloze::checkpoints {
namespace {

using formats::TensorView;

bool has(std::span<const TensorView> tensors, std::string_view start) {
  return std::ranges::any_of(
      tensors, [&](const TensorView& tensor) { return tensor.name.starts_with(start); });
}

// The first row whose head has its parameters among the tensors; null: none.
const models::HeadTraits* head_of_tensors(std::span<const TensorView> tensors) {
  const bool has_pooler = has(tensors, "bert.pooler.");
  const auto found = std::ranges::find_if(models::all_heads(), [&](const models::HeadTraits& head) {
    return !head.parameters.empty() && has(tensors, head.parameters) &&
           (has_pooler || !head.needs_pooler);
  });
  return found == models::all_heads().end() ? nullptr : &*found;
}

// Adds what the tensors tell. Heads that are not ours are left to the code that reads the weights.
void complete(std::span<const TensorView> tensors, formats::Json& config) {
  const models::HeadTraits* head = head_of_tensors(tensors);
  if (head == nullptr) return;
  config["architectures"] = {head->architecture};
  if (head->has_labels) config["num_labels"] = num_labels_of(tensors);
}

}  // namespace

std::string_view class_of_tensors(std::span<const TensorView> tensors) {
  const bool has_nsp = has(tensors, "cls.seq_relationship.");
  const models::HeadTraits* head = head_of_tensors(tensors);
  if (head == nullptr) return has_nsp ? "BertForNextSentencePrediction" : "BertModel";
  if (head->predicts_words() && !has_nsp) return "BertForMaskedLM";
  return head->architecture;
}

int64_t num_labels_of(std::span<const TensorView> tensors) {
  // The classifier may be another's: a span head has two outputs whatever one beside it has.
  const models::HeadTraits* head = head_of_tensors(tensors);
  if (head == nullptr || !head->has_labels) return 0;
  const TensorView* weight =
      formats::find_tensor(tensors, fmt::format("{}weight", head->parameters));
  return weight != nullptr && weight->shape.rank() == 2 ? weight->shape[0] : 0;
}

models::BertHead read_stored_head(const std::filesystem::path& model) {
  const std::filesystem::path file = configuration_of(model);
  formats::Json config = formats::read_json_file(file);
  if (config.is_object() && !architecture_in(config)) {
    complete(StoredModel(model).tensors(), config);
  }
  models::BertHead head = bert_head_from_json(config, file.string());
  const std::filesystem::path folder = folder_of(model);
  if (head.kind == models::HeadKind::kEmbedding && has_modules(folder)) {
    head.embedding = read_embedding_layers(folder, bert_config_from_json(config, file.string()));
  }
  return head;
}

}  // namespace cloze::checkpoints
