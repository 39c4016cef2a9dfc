// Counts what is lost when texts are cut into tokens, and why: words that become [UNK], words that
// fall apart into letters, and accents and vowel signs that are stripped.
//
// A cause of [UNK] is a character that the vocabulary does not have, else the word itself, which no
// pieces of the vocabulary make up, or which is longer than WordPiece looks at.
// A character counts as stripped when it is shorter without its marks, or is a mark. White space is
// no character here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/basic_tokenizer.h"
#include "text/counted_text.h"
#include "text/letter_count.h"
#include "text/tokenizer.h"

namespace cloze::text {

class CutCount {
 public:
  // Keeps a reference.
  explicit CutCount(const Tokenizer& tokenizer);

  void add(std::string_view text);

  int64_t tokens() const { return tokens_; }
  int64_t unknown() const { return unknown_; }
  double unknown_share() const;
  double stripped_share() const;  // of the characters
  // The share of tokens that are single letters of longer words (letter_count.h).
  double single_letter_share() const { return letters_.share(); }
  // The most frequent first.
  std::vector<CountedText> causes(size_t most) const { return most_frequent(causes_, most); }
  std::vector<CountedText> stripped(size_t most) const { return most_frequent(stripped_, most); }

 private:
  std::string cause_of(std::string_view word);
  bool is_unknown(std::string_view character);
  bool loses_marks(std::string_view character) const;
  void count_stripped(std::string_view text);

  const Tokenizer& tokenizer_;
  LetterCount letters_;
  BasicTokenizer keeping_;  // the tokenizer's rules, with accents kept
  BasicTokenizer stripping_;
  std::unordered_map<std::string, bool> is_unknown_;
  std::unordered_map<char32_t, bool> loses_marks_;
  std::map<std::string, int64_t> causes_;
  std::map<std::string, int64_t> stripped_;
  int64_t tokens_ = 0;
  int64_t unknown_ = 0;
  int64_t characters_ = 0;
  int64_t stripped_characters_ = 0;
};

}  // namespace cloze::text
