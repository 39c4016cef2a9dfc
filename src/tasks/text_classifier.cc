#include "tasks/text_classifier.h"

#include <algorithm>

#include "tasks/class_logits.h"
#include "tasks/logits.h"
#include "tasks/sequence_sample.h"

namespace cloze::tasks {
namespace {

std::vector<ClassProbability> classes_of(std::span<const float> logits,
                                         const std::vector<std::string>& labels) {
  if (labels.size() == 1) return {{labels[0], logits[0]}};
  const std::vector<double> probabilities = softmax(logits);
  std::vector<ClassProbability> classes;
  for (size_t c = 0; c < labels.size(); ++c) classes.push_back({labels[c], probabilities[c]});
  std::stable_sort(classes.begin(), classes.end(),
                   [](const auto& a, const auto& b) { return a.value > b.value; });
  return classes;
}

}  // namespace

nlohmann::ordered_json classes_json(std::span<const ClassProbability> classes, bool is_regression) {
  if (is_regression) return {{"value", classes[0].value}};
  auto list = nlohmann::ordered_json::array();
  for (const ClassProbability& one : classes) {
    list.push_back({{"label", one.label}, {"probability", one.value}});
  }
  return {{"classes", std::move(list)}};
}

TextClassifier::TextClassifier(std::shared_ptr<const inference::PackedModel> model, int num_threads)
    : client_(std::move(model), models::HeadKind::kSequenceClassification, num_threads) {}

std::vector<std::vector<ClassProbability>> TextClassifier::classify(
    std::span<const TextAndPair> texts) {
  const inference::PackedModel& model = client_.model();
  std::vector<data::Sample> samples;
  for (const TextAndPair& text : texts) {
    const auto pair = text.pair.empty() ? std::nullopt : std::optional<std::string_view>(text.pair);
    samples.push_back(
        sequence_sample(text.text, pair, model.tokenizer(), model.config().max_position_embeddings)
            .sample);
  }
  std::vector<std::vector<ClassProbability>> classes;
  for (const std::vector<float>& logits : class_logits(client_, samples)) {
    classes.push_back(classes_of(logits, head().labels));
  }
  return classes;
}

}  // namespace cloze::tasks
