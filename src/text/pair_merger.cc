#include "text/pair_merger.h"

#include <algorithm>

namespace cloze::text {

void PairMerger::add_word(std::span<const SymbolId> symbols, int64_t count) {
  const auto index = static_cast<uint32_t>(words_.size());
  words_.push_back({symbols_.size(), static_cast<uint32_t>(symbols.size()), count});
  symbols_.insert(symbols_.end(), symbols.begin(), symbols.end());
  for (size_t i = 0; i + 1 < symbols.size(); ++i) {
    PairState& state = pairs_[key_of({symbols[i], symbols[i + 1]})];
    state.count += count;
    if (state.words.empty() || state.words.back() != index) state.words.push_back(index);
  }
}

void PairMerger::push_candidates() {
  has_candidates_ = true;
  for (const auto& [key, state] : pairs_) candidates_.push({state.count, key});
}

std::optional<PairMerger::Pair> PairMerger::best_pair(int64_t min_count) {
  if (!has_candidates_) push_candidates();
  while (!candidates_.empty()) {
    const Candidate best = candidates_.top();
    const auto found = pairs_.find(best.key);
    const int64_t count = found == pairs_.end() ? 0 : found->second.count;
    if (count == best.count) {
      if (count < min_count) return std::nullopt;
      return Pair{static_cast<SymbolId>(best.key >> 32), static_cast<SymbolId>(best.key)};
    }
    candidates_.pop();
    if (count >= min_count) candidates_.push({count, best.key});
  }
  return std::nullopt;
}

void PairMerger::merge(Pair pair, SymbolId merged) {
  const auto found = pairs_.find(key_of(pair));
  if (found == pairs_.end()) return;
  const std::vector<uint32_t> words = std::move(found->second.words);
  std::vector<uint64_t> grown;
  for (const uint32_t word : words) merge_in_word(word, pair, merged, grown);
  pairs_.erase(key_of(pair));
  std::sort(grown.begin(), grown.end());
  grown.erase(std::unique(grown.begin(), grown.end()), grown.end());
  for (const uint64_t key : grown) {
    const auto state = pairs_.find(key);
    if (state != pairs_.end()) candidates_.push({state->second.count, key});
  }
}

void PairMerger::merge_in_word(uint32_t index, Pair pair, SymbolId merged,
                               std::vector<uint64_t>& grown) {
  Word& word = words_[index];
  SymbolId* const symbols = symbols_.data() + word.begin;
  uint32_t written = 0;
  for (uint32_t i = 0; i < word.length; ++i) {
    const bool is_pair =
        i + 1 < word.length && symbols[i] == pair.left && symbols[i + 1] == pair.right;
    if (!is_pair) {
      symbols[written++] = symbols[i];
      continue;
    }
    if (written > 0) {
      lose({symbols[written - 1], pair.left}, index);
      gain({symbols[written - 1], merged}, index, grown);
    }
    if (i + 2 < word.length) {
      lose({pair.right, symbols[i + 2]}, index);
      gain({merged, symbols[i + 2]}, index, grown);
    }
    symbols[written++] = merged;
    ++i;
  }
  word.length = written;
}

void PairMerger::gain(Pair pair, uint32_t word, std::vector<uint64_t>& grown) {
  PairState& state = pairs_[key_of(pair)];
  state.count += words_[word].count;
  if (state.words.empty() || state.words.back() != word) state.words.push_back(word);
  grown.push_back(key_of(pair));
}

void PairMerger::lose(Pair pair, uint32_t word) {
  const auto found = pairs_.find(key_of(pair));
  if (found != pairs_.end()) found->second.count -= words_[word].count;
}

}  // namespace cloze::text
