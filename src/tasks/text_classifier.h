// Classifies texts, or pairs of texts, with a fine-tuned model folder. Texts are cut to what the
// model has positions for, as in training. Errors: UserError for a folder whose model is no
// classifier.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "inference/inference_session.h"
#include "inference/pretrained_model.h"

namespace cloze::tasks {

struct TextAndPair {
  std::string text;
  std::string pair;  // empty: a single text
};

// Of one class; of a model that predicts a number, that number is the value.
struct ClassProbability {
  std::string label;
  double value = 0.0;
};

class TextClassifier {
 public:
  explicit TextClassifier(const std::filesystem::path& folder,
                          const inference::InferenceOptions& options = {});

  // For each text its classes, the most probable first.
  std::vector<std::vector<ClassProbability>> classify(std::span<const TextAndPair> texts);

  const models::BertHead& head() const { return model_.head; }

 private:
  inference::PretrainedModel model_;
  inference::InferenceSession session_;
};

}  // namespace cloze::tasks
