#include "tasks/text_classifier.h"

#include <algorithm>
#include <array>

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

formats::Json classification_json(const Classification& classification, bool is_regression) {
  formats::Json reply;
  if (is_regression) {
    reply["value"] = classification.classes[0].value;
  } else {
    auto list = formats::Json::array();
    for (const ClassProbability& one : classification.classes) {
      list.push_back({{"label", one.label}, {"probability", one.value}});
    }
    reply["classes"] = std::move(list);
  }
  add_truncation(reply, classification.texts);
  add_unknown(reply, classification.unknown);
  return reply;
}

std::vector<std::vector<float>> class_logits(inference::InferenceClient& client,
                                             std::span<const data::Sample> samples) {
  std::vector<std::vector<float>> rows(samples.size());
  client.run_each(samples, [&](size_t sample, std::span<const float> logits) {
    require_finite(logits, "a text");
    rows[sample].assign(logits.begin(), logits.end());
  });
  return rows;
}

std::vector<double> class_predictions(std::span<const std::vector<float>> logits) {
  std::vector<double> predictions;
  predictions.reserve(logits.size());
  for (const std::vector<float>& row : logits) {
    const auto largest = std::max_element(row.begin(), row.end()) - row.begin();
    predictions.push_back(row.size() == 1 ? row[0] : static_cast<double>(largest));
  }
  return predictions;
}

TextClassifier::TextClassifier(std::shared_ptr<const inference::PackedModel> model, int num_threads)
    : client_(std::move(model), models::HeadKind::kSequenceClassification, num_threads) {}

std::vector<Classification> TextClassifier::classify(std::span<const TextAndPair> texts) {
  const inference::PackedModel& model = client_.model();
  std::vector<data::Sample> samples;
  std::vector<Classification> all;
  for (const TextAndPair& text : texts) {
    const auto pair = text.pair.empty() ? std::nullopt : std::optional<std::string_view>(text.pair);
    SequenceSample made =
        sequence_sample(text.text, pair, model.tokenizer(), model.config().max_position_embeddings);
    UnknownTokens unknown;
    unknown.count(made.sample.input_ids, model.tokenizer().vocabulary());
    unknown.find_causes(std::array<std::string_view, 2>{text.text, text.pair}, model.tokenizer());
    samples.push_back(std::move(made.sample));
    all.push_back({.classes = {}, .texts = made.texts, .unknown = std::move(unknown)});
  }
  const std::vector<std::vector<float>> logits = class_logits(client_, samples);
  for (size_t i = 0; i < all.size(); ++i) all[i].classes = classes_of(logits[i], head().labels);
  return all;
}

}  // namespace cloze::tasks
