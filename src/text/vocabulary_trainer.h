// Trains a WordPiece vocabulary: counts the words of a corpus, then merges the most frequent pair
// of neighbouring pieces until the vocabulary is full.
//
// Order of the result: [PAD] [UNK] [CLS] [SEP] [MASK], the alphabet by code point, the alphabet's
// continuations ("##x") by code point, then the merged pieces in the order they were found.
// Deterministic: the same text gives the same bytes, whatever the order or grouping of the files.
// Pieces of rare characters (beyond limit_alphabet) are not learned: their words are left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace cloze::text {

struct VocabularyTrainerOptions {
  TokenizerOptions tokenizer;
  int32_t size = 30522;           // tokens at most, specials included
  int64_t min_frequency = 2;      // of a pair that is merged
  int32_t limit_alphabet = 1000;  // characters at most, the most frequent ones
};

class VocabularyTrainer {
 public:
  explicit VocabularyTrainer(VocabularyTrainerOptions options);

  void add_text(std::string_view text);

  // UserError when there were no words, or when the alphabet alone exceeds the size.
  Vocabulary train() const;

  int64_t num_words() const { return num_words_; }
  int64_t num_distinct_words() const { return static_cast<int64_t>(counts_.size()); }
  uint64_t num_invalid() const { return num_invalid_; }  // invalid UTF-8 sequences, left out

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  VocabularyTrainerOptions options_;
  BasicTokenizer basic_tokenizer_;
  std::unordered_map<std::string, int64_t, Hash, std::equal_to<>> counts_;
  int64_t num_words_ = 0;
  uint64_t num_invalid_ = 0;
};

}  // namespace cloze::text
