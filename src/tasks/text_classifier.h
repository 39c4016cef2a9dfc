// Classifies texts, or pairs of texts, with a fine-tuned model. Texts are cut to the number of
// positions that the model has, at their ends as in training unless a text says otherwise. Errors: UserError for a model that is not a
// classifier; DataError for one whose logits are not finite.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/sample.h"
#include "formats/json.h"
#include "inference/inference_client.h"
#include "tasks/sequence_sample.h"
#include "tasks/truncation.h"
#include "tasks/unknown_tokens.h"

namespace cloze::tasks {

struct TextAndPair {
  std::string text;
  std::string pair;  // empty: a single text
  CutSide cut_side = CutSide::kEnd;
};

// The probability of one class, or that a label holds; of a model that predicts a number, that number
// is the value.
struct ClassProbability {
  std::string label;
  double value = 0.0;
};

struct Classification {
  std::vector<ClassProbability> classes;  // the most probable first
  // So many of the first hold: 1, or of several labels those above the threshold.
  int64_t num_holding = 1;
  Truncation texts;            // of both of a pair together
  UnknownTokens unknown;       // of both
  std::vector<float> logits;   // of all classes, in the model's order
  int64_t tokens = 0;          // that were read, special ones included
  double token_seconds = 0.0;  // its share of the time in which the tokens of all were made
};

// {"classes": [{"label", "probability"}, ...]}; of a model of several labels also {"labels": [...]},
// those that hold; of a model that predicts a number, {"value"}. With what was cut and what is
// unknown.
formats::Json classification_json(const Classification& classification,
                                  const models::BertHead& head);

// A row of logits for each sample, in their order, by a model with the head of sequence
// classification (a single class: a score).
std::vector<std::vector<float>> class_logits(inference::InferenceClient& client,
                                             std::span<const data::Sample> samples);

// The number of the (first) largest logit, or of a single logit its value.
std::vector<double> class_predictions(std::span<const std::vector<float>> logits);

class TextClassifier {
 public:
  // `num_threads` run a batch together; 0: all processors. A label of several holds above the
  // threshold (kLabelThreshold); UserError where one is given for another model.
  TextClassifier(std::shared_ptr<const inference::PackedModel> model, int num_threads,
                 std::optional<double> threshold = std::nullopt);

  std::vector<Classification> classify(std::span<const TextAndPair> texts);

  const models::BertHead& head() const { return client_.model().head(); }

 private:
  Classification classified(std::span<const float> logits) const;

  inference::InferenceClient client_;
  double threshold_;
};

}  // namespace cloze::tasks
