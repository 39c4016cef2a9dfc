// Chooses the right one of several texts, such as the answer to a question, with a model of multiple
// choice: each choice is read with the text, [CLS] text [SEP] choice [SEP], as it was trained. What is
// too long is cut to the number of positions that the model has.
// Errors: UserError for a model of another head, and for fewer than two choices; DataError for one
// whose logits are not finite.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/json.h"
#include "inference/inference_client.h"
#include "tasks/truncation.h"
#include "tasks/unknown_tokens.h"

namespace cloze::tasks {

struct TextAndChoices {
  std::string text;
  std::string pair;  // empty: none
  std::vector<std::string> choices;
};

// The second text of a choice's sequence.
std::string second_text(const std::string& pair, const std::string& choice);

struct Choice {
  int64_t number = 0;                 // of the most probable
  std::vector<double> probabilities;  // of each choice, in their order
  Truncation texts;                   // of the longest sequence
  UnknownTokens unknown;              // of all sequences
};

// {"choice", "probabilities"}, with what was cut and what is unknown.
formats::Json choice_json(const Choice& choice);

class TextChooser {
 public:
  // `num_threads` run a batch together; 0: all processors.
  TextChooser(std::shared_ptr<const inference::PackedModel> model, int num_threads);

  std::vector<Choice> choose(std::span<const TextAndChoices> texts);

 private:
  inference::InferenceClient client_;
};

}  // namespace cloze::tasks
