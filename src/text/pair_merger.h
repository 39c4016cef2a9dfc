// Byte-pair merging over counted words: again and again the pair of neighbours that occurs most
// often becomes one symbol. Counts are kept up to date as pairs change, so a merge costs as much as
// the words it occurs in.
// Source: Sennrich et al., "Neural Machine Translation of Rare Words with Subword Units", ACL 2016.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <span>
#include <unordered_map>
#include <vector>

namespace cloze::text {

using SymbolId = int32_t;

class PairMerger {
 public:
  struct Pair {
    SymbolId left = 0, right = 0;
  };

  // A word of at least one symbol that occurs `count` > 0 times. Add all words before calling
  // best_pair().
  void add_word(std::span<const SymbolId> symbols, int64_t count);

  // The most frequent pair that occurs at least `min_count` > 0 times; of several the one with the
  // smallest left, then right symbol.
  std::optional<Pair> best_pair(int64_t min_count);

  // Replaces the pair by `merged` in every word, from left to right.
  void merge(Pair pair, SymbolId merged);

 private:
  struct Word {
    size_t begin = 0;     // of its symbols in symbols_
    uint32_t length = 0;  // symbols left; they stay at the front
    int64_t count = 0;
  };
  struct PairState {
    int64_t count = 0;
    std::vector<uint32_t> words;  // that have held the pair; some may no longer
  };
  struct Candidate {
    int64_t count;  // may have fallen since; checked when popped
    uint64_t key;
    bool operator<(const Candidate& other) const {
      return count != other.count ? count < other.count : key > other.key;
    }
  };

  static uint64_t key_of(Pair pair) {
    return uint64_t{static_cast<uint32_t>(pair.left)} << 32 | static_cast<uint32_t>(pair.right);
  }
  void merge_in_word(uint32_t index, Pair pair, SymbolId merged, std::vector<uint64_t>& grown);
  void gain(Pair pair, uint32_t word, std::vector<uint64_t>& grown);
  void lose(Pair pair, uint32_t word);
  void push_candidates();

  std::vector<SymbolId> symbols_;  // of all words, end to end
  std::vector<Word> words_;
  std::unordered_map<uint64_t, PairState> pairs_;
  std::priority_queue<Candidate> candidates_;
  bool has_candidates_ = false;
};

}  // namespace cloze::text
