#include "text/vocabulary_trainer.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "text/pair_merger.h"
#include "text/utf8.h"

namespace cloze::text {
namespace {

struct CountedWord {
  std::u32string code_points;
  int64_t count = 0;
};

std::string utf8_of(char32_t code_point) {
  std::string text;
  append_utf8(code_point, text);
  return text;
}

struct Alphabet {
  std::set<char32_t> kept;
  std::vector<std::pair<char32_t, int64_t>> left_out;  // the most frequent first
};

// The most frequent code points, as many as make up `coverage`; of equals the smaller ones.
Alphabet choose_alphabet(const std::vector<CountedWord>& words, double coverage) {
  std::map<char32_t, int64_t> counts;
  for (const CountedWord& word : words) {
    for (const char32_t c : word.code_points) counts[c] += word.count;
  }
  std::vector<std::pair<char32_t, int64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& left, const auto& right) { return left.second > right.second; });
  int64_t total = 0;
  for (const auto& [c, count] : sorted) total += count;
  Alphabet alphabet;
  int64_t covered = 0;
  for (const auto& [c, count] : sorted) {
    if (static_cast<double>(covered) < coverage * static_cast<double>(total)) {
      alphabet.kept.insert(c);
    } else {
      alphabet.left_out.emplace_back(c, count);
    }
    covered += count;
  }
  return alphabet;
}

// Tokens and their ids while the vocabulary grows.
class TokenList {
 public:
  int32_t add(const std::string& token) {
    const auto [place, is_new] = ids_.emplace(token, static_cast<int32_t>(tokens_.size()));
    if (is_new) tokens_.push_back(token);
    return place->second;
  }
  void add_alphabet(const std::vector<CountedWord>& words) {
    std::set<char32_t> all, continuing;
    for (const CountedWord& word : words) {
      all.insert(word.code_points.begin(), word.code_points.end());
      continuing.insert(word.code_points.begin() + 1, word.code_points.end());
    }
    for (const char32_t c : all) starts_[c] = add(utf8_of(c));
    for (const char32_t c : continuing) {
      continuations_[c] = add(std::string(kContinuation) + utf8_of(c));
    }
  }
  std::vector<SymbolId> symbols_of(const CountedWord& word) const {
    std::vector<SymbolId> symbols = {starts_.at(word.code_points[0])};
    for (size_t i = 1; i < word.code_points.size(); ++i) {
      symbols.push_back(continuations_.at(word.code_points[i]));
    }
    return symbols;
  }
  int32_t add_merged(PairMerger::Pair pair) {
    return add(tokens_[static_cast<size_t>(pair.left)] +
               tokens_[static_cast<size_t>(pair.right)].substr(kContinuation.size()));
  }
  size_t size() const { return tokens_.size(); }
  std::vector<std::string> take() && { return std::move(tokens_); }

 private:
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, int32_t> ids_;
  std::map<char32_t, int32_t> starts_, continuations_;
};

}  // namespace

VocabularyTrainer::VocabularyTrainer(VocabularyTrainerOptions options)
    : options_(options), basic_tokenizer_(options.tokenizer) {
  if (options.size < 1 || options.min_frequency < 1) {
    throw_user_error("vocabulary size {}, min frequency {}: each must be at least 1", options.size,
                     options.min_frequency);
  }
  if (!(options.character_coverage > 0 && options.character_coverage <= 1)) {
    throw_user_error("character coverage {}: it must be above 0, and at most 1",
                     options.character_coverage);
  }
}

void VocabularyTrainer::add_text(std::string_view text) {
  num_invalid_ += basic_tokenizer_.split<false>(text, [&](const Word& word) {
    if (word.is_overlong) {
      ++num_overlong_;
      return;
    }
    ++num_words_;
    const auto found = counts_.find(word.text);
    if (found != counts_.end()) {
      ++found->second;
    } else {
      counts_.emplace(word.text, 1);
    }
  });
}

void VocabularyTrainer::add_counts(const VocabularyTrainer& other) {
  for (const auto& [word, count] : other.counts_) counts_[word] += count;
  num_words_ += other.num_words_;
  num_overlong_ += other.num_overlong_;
  num_invalid_ += other.num_invalid_;
}

TrainedVocabulary VocabularyTrainer::train(const std::function<void(int64_t)>& progress) const {
  if (counts_.empty()) throw_user_error("no words in the input: a vocabulary needs some text");
  std::vector<CountedWord> words;
  for (const auto& [text, count] : counts_) words.push_back({decoded_utf8(text), count});
  const Alphabet alphabet = choose_alphabet(words, options_.character_coverage);
  std::vector<CountedText> left_out;
  for (const auto& [c, count] : alphabet.left_out) left_out.push_back({utf8_of(c), count});
  int64_t unknown_words = 0;
  std::erase_if(words, [&](const CountedWord& word) {
    const bool is_known = std::ranges::all_of(
        word.code_points, [&](char32_t c) { return alphabet.kept.contains(c); });
    if (!is_known) unknown_words += word.count;
    return !is_known;
  });

  TokenList tokens;
  for (const auto special : {kPadToken, kUnknownToken, kClsToken, kSepToken, kMaskToken}) {
    tokens.add(std::string(special));
  }
  tokens.add_alphabet(words);
  const auto size = static_cast<size_t>(options_.size);
  if (tokens.size() > size) {
    throw_user_error(
        "vocabulary size {}: the special tokens and the alphabet alone are {}; take a larger size "
        "or a smaller character coverage (now {})",
        size, tokens.size(), options_.character_coverage);
  }
  PairMerger merger;
  for (const CountedWord& word : words) merger.add_word(tokens.symbols_of(word), word.count);
  while (tokens.size() < size) {
    const auto pair = merger.best_pair(options_.min_frequency);
    if (!pair) break;
    merger.merge(*pair, tokens.add_merged(*pair));
    progress(static_cast<int64_t>(tokens.size()));
  }
  return {.vocabulary = Vocabulary::from_tokens(std::move(tokens).take()),
          .unknown_words = unknown_words,
          .left_out = std::move(left_out)};
}

}  // namespace cloze::text
