// Rules of a tokenizer that a file or a user states; nothing where neither says.
#pragma once

#include <optional>

#include "text/tokenizer_options.h"

namespace cloze::text {

struct StatedRules {
  std::optional<bool> lower_case;
  std::optional<bool> strip_accents;
  std::optional<bool> tokenize_chinese_chars;

  TokenizerOptions over(TokenizerOptions rules) const {
    rules.lower_case = lower_case.value_or(rules.lower_case);
    if (strip_accents) rules.strip_accents = strip_accents;
    rules.tokenize_chinese_chars = tokenize_chinese_chars.value_or(rules.tokenize_chinese_chars);
    return rules;
  }
};

}  // namespace cloze::text
