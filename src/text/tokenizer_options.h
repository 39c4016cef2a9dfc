// Options of what a tokenizer does to text before it looks for pieces: the settings of a BERT
// tokenizer, under the names of tokenizer_config.json.
#pragma once

#include <cstdint>
#include <optional>

namespace cloze::text {

enum class Profile : uint8_t { kGoogle, kHuggingFace };

struct TokenizerOptions {
  Profile profile = Profile::kHuggingFace;
  bool lower_case = true;
  std::optional<bool> strip_accents;   // nothing: as lower_case
  bool tokenize_chinese_chars = true;  // an ideograph is a word

  bool strips_accents() const { return strip_accents.value_or(lower_case); }
  bool operator==(const TokenizerOptions&) const = default;
};

}  // namespace cloze::text
