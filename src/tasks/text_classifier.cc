#include "tasks/text_classifier.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>

#include "base/error.h"
#include "base/seconds.h"
#include "tasks/logits.h"

namespace cloze::tasks {

formats::Json classification_json(const Classification& classification,
                                  const models::BertHead& head) {
  formats::Json reply;
  if (head.is_regression()) {
    reply["value"] = classification.classes[0].value;
  } else {
    auto list = formats::Json::array(), holding = formats::Json::array();
    for (const ClassProbability& one : classification.classes) {
      if (std::ssize(holding) < classification.num_holding) holding.push_back(one.label);
      list.push_back({{"label", one.label}, {"probability", one.value}});
    }
    if (head.is_multi_label) reply["labels"] = std::move(holding);
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

TextClassifier::TextClassifier(std::shared_ptr<const inference::PackedModel> model, int num_threads,
                               std::optional<double> threshold)
    : client_(std::move(model), models::HeadKind::kSequenceClassification, num_threads),
      threshold_(threshold.value_or(kLabelThreshold)) {
  if (threshold && !head().is_multi_label) {
    throw_user_error(
        "threshold {} is for a model of which several labels may hold; leave it out for {}",
        *threshold, client_.model().pretrained().path.string());
  }
}

Classification TextClassifier::classified(std::span<const float> logits) const {
  const std::vector<std::string>& labels = head().labels;
  if (head().is_regression()) {
    return {.classes = {{labels[0], logits[0]}}, .logits = {logits[0]}};
  }
  std::vector<double> probabilities;
  if (head().is_multi_label) {
    for (const float logit : logits) probabilities.push_back(sigmoid(logit));
  } else {
    probabilities = softmax(logits);
  }
  Classification made{.logits = {logits.begin(), logits.end()}};
  for (size_t c = 0; c < labels.size(); ++c) made.classes.push_back({labels[c], probabilities[c]});
  std::ranges::stable_sort(made.classes, std::greater(), &ClassProbability::value);
  if (head().is_multi_label) {
    made.num_holding = std::ranges::count_if(
        probabilities, [&](double probability) { return probability > threshold_; });
  }
  return made;
}

std::vector<Classification> TextClassifier::classify(std::span<const TextAndPair> texts) {
  const auto begin = std::chrono::steady_clock::now();
  const inference::PackedModel& model = client_.model();
  std::vector<data::Sample> samples;
  std::vector<Truncation> cut;
  std::vector<UnknownTokens> unknown_of_all;
  for (const TextAndPair& text : texts) {
    const auto pair = text.pair.empty() ? std::nullopt : std::optional<std::string_view>(text.pair);
    SequenceSample made = sequence_sample(text.text, pair, model.tokenizer(),
                                          model.config().max_position_embeddings, text.cut_side);
    UnknownTokens unknown;
    unknown.count(made.sample.input_ids, model.tokenizer().vocabulary());
    unknown.find_causes(std::array<std::string_view, 2>{text.text, text.pair}, model.tokenizer());
    samples.push_back(std::move(made.sample));
    cut.push_back(made.texts);
    unknown_of_all.push_back(std::move(unknown));
  }
  const double token_seconds = seconds_since(begin) / static_cast<double>(texts.size());
  std::vector<Classification> all;
  for (const std::vector<float>& logits : class_logits(client_, samples)) {
    const size_t i = all.size();
    Classification& one = all.emplace_back(classified(logits));
    one.texts = cut[i];
    one.unknown = std::move(unknown_of_all[i]);
    one.tokens = std::ssize(samples[i].input_ids);
    one.token_seconds = token_seconds;
  }
  return all;
}

}  // namespace cloze::tasks
