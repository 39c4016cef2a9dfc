#include "checkpoints/stored_head.h"

#include <algorithm>

#include "checkpoints/hugging_face_config.h"
#include "checkpoints/stored_model.h"
#include "formats/json.h"

namespace cloze::checkpoints {
namespace {

using formats::TensorView;

bool has(std::span<const TensorView> tensors, std::string_view start) {
  return std::ranges::any_of(
      tensors, [&](const TensorView& tensor) { return tensor.name.starts_with(start); });
}

// Adds what the tensors tell. Heads that are not ours are left to the code that reads the weights.
void complete(std::span<const TensorView> tensors, formats::Json& config) {
  const std::string_view name = class_of_tensors(tensors);
  const bool is_classifier =
      name == models::architecture_of(models::HeadKind::kSequenceClassification);
  const bool answers = name == models::architecture_of(models::HeadKind::kQuestionAnswering);
  if (!is_classifier && !answers) return;
  config["architectures"] = {name};
  if (is_classifier) config["num_labels"] = num_labels_of(tensors);
}

}  // namespace

std::string_view class_of_tensors(std::span<const TensorView> tensors) {
  const bool has_mlm = has(tensors, "cls.predictions.");
  const bool has_nsp = has(tensors, "cls.seq_relationship.");
  if (has_mlm) return has_nsp ? "BertForPreTraining" : "BertForMaskedLM";
  if (has(tensors, "qa_outputs.")) return "BertForQuestionAnswering";
  if (has(tensors, "classifier.")) return "BertForSequenceClassification";
  return has_nsp ? "BertForNextSentencePrediction" : "BertModel";
}

int64_t num_labels_of(std::span<const TensorView> tensors) {
  // A span head has two outputs whatever a classifier beside it has.
  const TensorView* classifier = formats::find_tensor(tensors, "classifier.weight");
  const bool has_labels =
      classifier != nullptr && classifier->shape.rank() == 2 && !has(tensors, "qa_outputs.");
  return has_labels ? classifier->shape[0] : 0;
}

models::BertHead read_stored_head(const std::filesystem::path& model) {
  const std::filesystem::path file = configuration_of(model);
  formats::Json config = formats::read_json_file(file);
  if (config.is_object() && !architecture_in(config)) {
    complete(StoredModel(model).tensors(), config);
  }
  return bert_head_from_json(config, file.string());
}

}  // namespace cloze::checkpoints
