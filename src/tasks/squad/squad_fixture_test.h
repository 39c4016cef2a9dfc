// For tests: a vocabulary of a few words, and SQuAD data of one context.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tasks/squad/squad_data.h"
#include "text/tokenizer.h"

namespace cloze::tasks {

// Letters and digits of their own, and as continuations; some words; CJK and punctuation.
inline text::Tokenizer letter_tokenizer(text::Profile profile = text::Profile::kGoogle) {
  std::vector<std::string> tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", "(",
                                  ")",     "-",     ",",     "中",    "国",     "é"};
  for (const std::string letters = "abcdefghijklmnopqrstuvwxyz0123456789"; const char c : letters) {
    tokens.emplace_back(1, c);
    tokens.push_back(std::string("##") + c);
  }
  return {text::Vocabulary::from_tokens(std::move(tokens)), {.profile = profile}};
}

inline SquadQuestion question_with(std::string text, std::vector<SquadAnswer> answers) {
  return {.id = "q", .question = std::move(text), .answers = std::move(answers)};
}

}  // namespace cloze::tasks
