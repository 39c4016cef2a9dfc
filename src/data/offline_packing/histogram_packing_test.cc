#include "data/offline_packing/histogram_packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/philox.h"
#include "data/offline_packing/nnls_packing.h"

namespace cloze::data {
namespace {

constexpr PackingAlgorithm kAlgorithms[] = {PackingAlgorithm::kShortestPackFirst,
                                            PackingAlgorithm::kLongestPackFirst,
                                            PackingAlgorithm::kLeastSquares};

LengthHistogram published(const std::string& name) {
  return read_length_histogram(std::string(CLOZE_SOURCE_DIR) + "/tests/fixtures/lengths/" + name);
}

LengthHistogram random_histogram(uint64_t seed, int64_t longest) {
  PhiloxStream random(seed, 0);
  LengthHistogram histogram;
  for (int64_t length = 1; length <= longest; ++length) {
    if (random.below(3) != 0) histogram.add(length, random.below(1000));
  }
  histogram.add(longest);
  return histogram;
}

// Every sequence has exactly one place; packs are no longer and hold no more than allowed.
void expect_valid(const LengthHistogram& histogram, const HistogramPacking& packing,
                  const PackingLimits& limits) {
  std::vector<int64_t> places(packing.pack_tokens + 1);
  for (const auto& [lengths, count] : packing.strategies) {
    EXPECT_GT(count, 0);
    EXPECT_LE(std::accumulate(lengths.begin(), lengths.end(), 0), packing.pack_tokens);
    if (limits.sequences_per_pack > 1) {
      EXPECT_LE(std::ssize(lengths), limits.sequences_per_pack);
    }
    for (const int32_t length : lengths) places[length] += count;
  }
  for (int64_t length = 1; length <= packing.pack_tokens; ++length) {
    const int64_t wanted = length < std::ssize(histogram.counts) ? histogram.counts[length] : 0;
    const int64_t padding = packing.padding.empty() ? 0 : packing.padding[length];
    EXPECT_EQ(places[length], wanted + padding) << length;
  }
}

TEST(HistogramPacking, EverySequenceHasOnePlace) {
  for (const PackingAlgorithm algorithm : kAlgorithms) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
      for (const int64_t depth : {1, 2, 3, 4}) {
        const LengthHistogram histogram = random_histogram(seed, 10 + 3 * seed);
        const PackingLimits limits{.pack_tokens = 40, .sequences_per_pack = depth};
        expect_valid(histogram, pack_histogram(histogram, algorithm, limits), limits);
      }
    }
  }
}

TEST(HistogramPacking, UnlimitedDepth) {
  const LengthHistogram histogram = random_histogram(3, 30);
  const PackingLimits limits{.pack_tokens = 40, .sequences_per_pack = 0};
  for (const auto algorithm :
       {PackingAlgorithm::kShortestPackFirst, PackingAlgorithm::kLongestPackFirst}) {
    const auto packing = pack_histogram(histogram, algorithm, limits);
    expect_valid(histogram, packing, limits);
    const auto shallow = pack_histogram(histogram, algorithm, {.pack_tokens = 40});
    EXPECT_LT(report_of(histogram, packing).packs, report_of(histogram, shallow).packs);
  }
}

// Placing sequences one by one, each into the first open pack with the least room, gives the same
// number of packs.
TEST(HistogramPacking, LongestPackFirstIsBestFitDecreasing) {
  const LengthHistogram histogram = random_histogram(5, 20);
  std::vector<std::pair<int64_t, int64_t>> packs;  // room, sequences
  for (int64_t length = 20; length > 0; --length) {
    for (int64_t i = 0; i < histogram.counts[length]; ++i) {
      std::pair<int64_t, int64_t>* best = nullptr;
      for (auto& pack : packs) {
        if (pack.first < length || pack.second == 3) continue;
        if (best == nullptr || pack.first < best->first) best = &pack;
      }
      if (best == nullptr) best = &packs.emplace_back(32, 0);
      best->first -= length;
      best->second += 1;
    }
  }
  const auto packing = pack_histogram(histogram, PackingAlgorithm::kLongestPackFirst,
                                      {.pack_tokens = 32, .sequences_per_pack = 3});
  EXPECT_EQ(report_of(histogram, packing).packs, std::ssize(packs));
}

// Figures of arXiv 2107.02027 for packs of at most three: 89.4 % and 99.7 % real tokens.
TEST(HistogramPacking, PublishedWikipediaLengths) {
  const LengthHistogram histogram = published("wikipedia_512.tsv");
  EXPECT_EQ(histogram.num_sequences(), 16'279'552);
  const PackingLimits limits{.pack_tokens = 512, .sequences_per_pack = 3};
  const auto shortest = pack_histogram(histogram, PackingAlgorithm::kShortestPackFirst, limits);
  expect_valid(histogram, shortest, limits);
  EXPECT_NEAR(report_of(histogram, shortest).efficiency(), 0.894, 0.001);

  const auto squares = pack_histogram(histogram, PackingAlgorithm::kLeastSquares, limits);
  expect_valid(histogram, squares, limits);
  EXPECT_EQ(squares.num_candidates, 22'102);
  const PackingReport report = report_of(histogram, squares);
  EXPECT_GE(report.sequences_per_pack(), 1.99);
  EXPECT_LE(report.sequences_per_pack(), report.bound());
}

TEST(HistogramPacking, ShortestPackFirstPutsALengthWhereMostRoomIs) {
  LengthHistogram histogram;
  histogram.add(7, 2);
  histogram.add(5, 1);
  histogram.add(3, 3);
  const auto packing = pack_histogram(histogram, PackingAlgorithm::kShortestPackFirst,
                                      {.pack_tokens = 10, .sequences_per_pack = 0});
  // 5 cannot join a 7; of the three 3s one joins the 5 (room 5), two the 7s (room 3).
  EXPECT_EQ(report_of(histogram, packing).packs, 3);
}

TEST(HistogramPacking, StrategiesAreAllListsThatFillAPack) {
  const auto strategies = full_pack_strategies(6, 3);
  const std::vector<std::vector<int32_t>> expected{{6},       {1, 5},    {2, 4},   {3, 3},
                                                   {1, 1, 4}, {1, 2, 3}, {2, 2, 2}};
  EXPECT_EQ(strategies, expected);
}

TEST(HistogramPacking, TheReportSaysWhatIsGained) {
  LengthHistogram histogram;
  histogram.add(6, 2);
  histogram.add(4, 2);
  const auto packing = pack_histogram(histogram, PackingAlgorithm::kLongestPackFirst, {});
  EXPECT_EQ(
      describe_packing(histogram, packing),
      "4 sequences of 5.0 tokens on average, in packs of 6\n4 packs of 2 strategies\n"
      "1.0000 sequences per pack, the expected speed-up; no packing exceeds 1.2000\n"
      "0.00 % fewer rows, 83.33 % of the tokens are real\n          2 x 6\n          2 x 4\n");
}

std::string refusal(const LengthHistogram& histogram, const PackingLimits& limits) {
  try {
    pack_histogram(histogram, PackingAlgorithm::kLeastSquares, limits);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(HistogramPacking, NonsenseIsRefused) {
  LengthHistogram histogram;
  EXPECT_EQ(refusal(histogram, {}), "there is no sequence to pack");
  histogram.add(20, 5);
  EXPECT_EQ(refusal(histogram, {.pack_tokens = 10}),
            "a sequence of 20 tokens does not fit a pack of 10; raise the pack length");
  EXPECT_EQ(refusal(histogram, {.sequences_per_pack = -1}),
            "-1 sequences per pack; give a positive number, or 0 for no limit");
  EXPECT_EQ(refusal(histogram, {.pack_tokens = 512, .sequences_per_pack = 9}),
            "packs of 512 tokens with up to 9 sequences have over 1000000 strategies; lower the "
            "sequences per pack");
  EXPECT_THROW(packing_algorithm_named("best"), UserError);
}

}  // namespace
}  // namespace cloze::data
