// Trains a WordPiece vocabulary: counts the words of a corpus, then merges the most frequent pair
// of neighbouring pieces until the vocabulary is full.
//
// Order of the result: [PAD] [UNK] [CLS] [SEP] [MASK], the alphabet by code point, the alphabet's
// continuations ("##x") by code point, then the merged pieces in the order they were found.
// Deterministic: the same text gives the same bytes, whatever its order, its grouping into files and
// the trainers that counted it. The alphabet is that of the most frequent characters that make up
// `character_coverage` of the text. Words with other characters are left out: they become [UNK].
// Source of the coverage: SentencePiece (Kudo and Richardson, EMNLP 2018), which has 0.9995 too.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/counted_text.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace cloze::text {

struct VocabularyTrainerOptions {
  TokenizerOptions tokenizer;
  int32_t size = 30522;                // tokens at most, specials included
  int64_t min_frequency = 2;           // of a pair that is merged
  double character_coverage = 0.9995;  // share of the characters, counted as often as they occur
};

struct TrainedVocabulary {
  Vocabulary vocabulary;
  int64_t unknown_words = 0;          // of num_words(), with a character that was left out
  std::vector<CountedText> left_out;  // these characters, the most frequent first
};

class VocabularyTrainer {
 public:
  explicit VocabularyTrainer(VocabularyTrainerOptions options);

  void add_text(std::string_view text);
  // Adds what another trainer with the same options has counted.
  void add_counts(const VocabularyTrainer& other);

  // UserError when there were no words, or when the alphabet alone exceeds the size.
  // `progress` is told how many tokens there are, again and again.
  TrainedVocabulary train(const std::function<void(int64_t)>& progress = [](int64_t) {}) const;

  int64_t num_words() const { return num_words_; }
  int64_t num_overlong() const { return num_overlong_; }  // words too long for WordPiece, left out
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
  int64_t num_overlong_ = 0;
  uint64_t num_invalid_ = 0;
};

}  // namespace cloze::text
