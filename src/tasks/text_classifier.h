// Classifies texts, or pairs of texts, with a fine-tuned model. Texts are cut to the number of
// positions that the model has, as in training. Errors: UserError for a model that is not a
// classifier; DataError for one whose logits are not finite.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/sample.h"
#include "formats/json.h"
#include "inference/inference_client.h"
#include "tasks/truncation.h"
#include "tasks/unknown_tokens.h"

namespace cloze::tasks {

struct TextAndPair {
  std::string text;
  std::string pair;  // empty: a single text
};

// The probability of one class; of a model that predicts a number, that number is the value.
struct ClassProbability {
  std::string label;
  double value = 0.0;
};

struct Classification {
  std::vector<ClassProbability> classes;  // the most probable first
  Truncation texts;                       // of both of a pair together
  UnknownTokens unknown;                  // of both
};

// {"classes": [{"label", "probability"}, ...]}; of a model that predicts a number, {"value"}. With
// what was cut and what is unknown.
formats::Json classification_json(const Classification& classification, bool is_regression);

// A row of logits for each sample, in their order, by a model with the head of sequence
// classification (a single class: a score).
std::vector<std::vector<float>> class_logits(inference::InferenceClient& client,
                                             std::span<const data::Sample> samples);

// The number of the (first) largest logit, or of a single logit its value.
std::vector<double> class_predictions(std::span<const std::vector<float>> logits);

class TextClassifier {
 public:
  // `num_threads` run a batch together; 0: all processors.
  TextClassifier(std::shared_ptr<const inference::PackedModel> model, int num_threads);

  std::vector<Classification> classify(std::span<const TextAndPair> texts);

  const models::BertHead& head() const { return client_.model().head(); }

 private:
  inference::InferenceClient client_;
};

}  // namespace cloze::tasks
