#include "tasks/text_chooser.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "tasks/logits.h"
#include "tasks/sequence_sample.h"
#include "tasks/text_classifier.h"

namespace cloze::tasks {

formats::Json choice_json(const Choice& choice) {
  formats::Json reply = {{"choice", choice.number}, {"probabilities", choice.probabilities}};
  add_truncation(reply, choice.texts);
  add_unknown(reply, choice.unknown);
  return reply;
}

std::string second_text(const std::string& pair, const std::string& choice) {
  return pair.empty() ? choice : pair + " " + choice;
}

TextChooser::TextChooser(std::shared_ptr<const inference::PackedModel> model, int num_threads)
    : client_(std::move(model), models::HeadKind::kMultipleChoice, num_threads) {}

std::vector<Choice> TextChooser::choose(std::span<const TextAndChoices> texts) {
  const inference::PackedModel& model = client_.model();
  std::vector<data::Sample> samples;
  std::vector<Choice> all;
  for (const TextAndChoices& text : texts) {
    if (text.choices.size() < 2) {
      throw_user_error("a text has {} choices; give two or more", text.choices.size());
    }
    Choice& choice = all.emplace_back();
    for (const std::string& one : text.choices) {
      const std::string second = second_text(text.pair, one);
      SequenceSample made = sequence_sample(text.text, second, model.tokenizer(),
                                            model.config().max_position_embeddings);
      choice.unknown.count(made.sample.input_ids, model.tokenizer().vocabulary());
      choice.unknown.find_causes(std::array<std::string_view, 2>{text.text, second},
                                 model.tokenizer());
      if (made.texts.tokens > choice.texts.tokens) choice.texts = made.texts;
      samples.push_back(std::move(made.sample));
    }
  }
  const std::vector<std::vector<float>> logits = class_logits(client_, samples);
  auto next = logits.begin();
  for (size_t i = 0; i < all.size(); ++i) {
    std::vector<float> of_choices;
    for (size_t c = 0; c < texts[i].choices.size(); ++c) of_choices.push_back((next++)->front());
    all[i].number = std::ranges::max_element(of_choices) - of_choices.begin();
    all[i].probabilities = softmax(std::span<const float>(of_choices));
  }
  return all;
}

}  // namespace cloze::tasks
