#include "text/likely_rules.h"

#include <algorithm>
#include <string>

#include "text/basic_tokenizer.h"

namespace cloze::text {
namespace {

bool is_in_brackets(const std::string& token) {
  return (token.front() == '[' && token.back() == ']') ||
         (token.front() == '<' && token.back() == '>');
}

std::string words_of(const std::string& token, const BasicTokenizer& tokenizer) {
  std::string words;
  tokenizer.split<false>(token, [&](const Word& word) { words.append(word.text).push_back(' '); });
  return words;
}

}  // namespace

bool is_unchanged_by(const Vocabulary& vocabulary, TokenizerOptions rules) {
  rules.tokenize_chinese_chars = false;  // changes no token, and makes large maps of characters
  TokenizerOptions plain = rules;
  plain.lower_case = false;
  plain.strip_accents = false;
  const BasicTokenizer without(plain);
  const BasicTokenizer with(rules);
  return std::ranges::all_of(vocabulary.tokens(), [&](const std::string& token) {
    return is_in_brackets(token) || words_of(token, with) == words_of(token, without);
  });
}

TokenizerOptions likely_rules(const Vocabulary& vocabulary) {
  if (!vocabulary.likely_lower_cased()) return {.lower_case = false};
  if (is_unchanged_by(vocabulary, {.lower_case = false, .strip_accents = true})) return {};
  return {.strip_accents = false};
}

}  // namespace cloze::text
