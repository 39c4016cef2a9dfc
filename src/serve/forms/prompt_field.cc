#include "serve/forms/prompt_field.h"

#include "checkpoints/sentence_folder.h"
#include "serve/failure.h"

namespace cloze::serve {

BodyField prompt_field() {
  return {kPromptField, FieldKind::kText, "The model's prompt that is put before each text"};
}

std::string prompt_of(const Body& body, const inference::PackedModel& model,
                      const std::string& otherwise) {
  if (!body.has(kPromptField)) return otherwise;
  const checkpoints::SentenceSettings& sentences = model.pretrained().sentences;
  const std::string name = body.text(kPromptField);
  std::string known;
  for (const auto& [one, prompt] : sentences.prompts) {
    if (one == name) return prompt;
    known += known.empty() ? one : ", " + one;
  }
  if (known.empty()) {
    refuse(Trouble::kInvalid, "\"{}\" is \"{}\", and the model has no prompts; leave it out",
           kPromptField, name);
  }
  refuse(Trouble::kInvalid, "\"{}\" is \"{}\"; the model has {}", kPromptField, name, known);
}

}  // namespace cloze::serve
