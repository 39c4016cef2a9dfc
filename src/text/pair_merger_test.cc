#include "text/pair_merger.h"

#include <gtest/gtest.h>

#include <map>

#include "base/philox.h"

namespace cloze::text {
namespace {

TEST(PairMergerTest, MergesTheMostFrequentPairFirst) {
  PairMerger merger;
  merger.add_word(std::vector<SymbolId>{1, 2, 3}, 5);
  merger.add_word(std::vector<SymbolId>{2, 3}, 2);
  auto pair = merger.best_pair(1);
  ASSERT_TRUE(pair);
  EXPECT_EQ(std::pair(pair->left, pair->right), std::pair(2, 3));
  merger.merge(*pair, 10);
  pair = merger.best_pair(5);
  ASSERT_TRUE(pair);
  EXPECT_EQ(std::pair(pair->left, pair->right), std::pair(1, 10));
  EXPECT_FALSE(merger.best_pair(6));
  merger.merge({1, 10}, 11);
  EXPECT_FALSE(merger.best_pair(1));
}

TEST(PairMergerTest, EqualPairsAreTakenBySmallestSymbols) {
  PairMerger merger;
  merger.add_word(std::vector<SymbolId>{4, 1}, 1);
  merger.add_word(std::vector<SymbolId>{3, 9}, 1);
  merger.add_word(std::vector<SymbolId>{3, 2}, 1);
  const auto pair = merger.best_pair(1);
  EXPECT_EQ(std::pair(pair->left, pair->right), std::pair(3, 2));
}

// Computes the same by recounting everything after each merge.
class RecountingMerger {
 public:
  std::vector<std::pair<std::vector<SymbolId>, int64_t>> words;

  std::pair<std::pair<SymbolId, SymbolId>, int64_t> best() const {
    std::map<std::pair<SymbolId, SymbolId>, int64_t> counts;
    for (const auto& [symbols, count] : words) {
      for (size_t i = 0; i + 1 < symbols.size(); ++i) counts[{symbols[i], symbols[i + 1]}] += count;
    }
    std::pair<std::pair<SymbolId, SymbolId>, int64_t> best{{0, 0}, 0};
    for (const auto& [pair, count] : counts) {
      if (count > best.second) best = {pair, count};
    }
    return best;
  }
  void merge(std::pair<SymbolId, SymbolId> pair, SymbolId merged) {
    for (auto& [symbols, count] : words) {
      std::vector<SymbolId> result;
      for (size_t i = 0; i < symbols.size(); ++i) {
        const bool is_pair =
            i + 1 < symbols.size() && symbols[i] == pair.first && symbols[i + 1] == pair.second;
        result.push_back(is_pair ? merged : symbols[i]);
        i += is_pair;
      }
      symbols = result;
    }
  }
};

TEST(PairMergerTest, AgreesWithCountingAgainAfterEachMerge) {
  for (uint64_t round = 0; round < 60; ++round) {
    PhiloxStream random(3, round);
    PairMerger merger;
    RecountingMerger recounting;
    for (int w = 0; w < 30; ++w) {
      std::vector<SymbolId> symbols(1 + random.below(12));
      for (SymbolId& symbol : symbols) symbol = static_cast<SymbolId>(random.below(3));
      const int64_t count = 1 + random.below(5);
      merger.add_word(symbols, count);
      recounting.words.emplace_back(symbols, count);
    }
    // Some merges make a symbol that exists already, as "a" + "bc" and "ab" + "c" do.
    SymbolId next = 3;
    while (true) {
      const auto [pair, count] = recounting.best();
      const auto answer = merger.best_pair(1);
      ASSERT_EQ(answer.has_value(), count > 0);
      if (!answer) break;
      ASSERT_EQ(std::pair(answer->left, answer->right), pair);
      const SymbolId merged = next > 6 && random.below(4) == 0
                                  ? next - 1 - static_cast<SymbolId>(random.below(2))
                                  : next++;
      merger.merge(*answer, merged);
      recounting.merge(pair, merged);
    }
  }
}

}  // namespace
}  // namespace cloze::text
