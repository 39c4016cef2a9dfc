#include "data/offline_packing/histogram_packing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "data/offline_packing/greedy_packing.h"
#include "data/offline_packing/nnls_packing.h"

namespace cloze::data {
namespace {

constexpr size_t kStrategiesShown = 8;

double ratio(int64_t numerator, int64_t denominator) {
  return static_cast<double>(numerator) / static_cast<double>(denominator);
}

PackingLimits checked_limits(const LengthHistogram& histogram, PackingLimits limits) {
  const int64_t longest = histogram.longest();
  if (longest == 0) throw_user_error("there is no sequence to pack");
  if (limits.pack_tokens == 0) limits.pack_tokens = longest;
  if (longest > limits.pack_tokens) {
    throw_user_error("a sequence of {} tokens does not fit a pack of {}; raise the latter", longest,
                     limits.pack_tokens);
  }
  if (limits.sequences_per_pack < 0) {
    throw_user_error("{} sequences per pack; give a positive number, or 0 for no limit",
                     limits.sequences_per_pack);
  }
  if (limits.sequences_per_pack == 0) limits.sequences_per_pack = limits.pack_tokens;
  return limits;
}

}  // namespace

PackingAlgorithm packing_algorithm_named(std::string_view name) {
  if (name == "spfhp") return PackingAlgorithm::kShortestPackFirst;
  if (name == "lpfhp") return PackingAlgorithm::kLongestPackFirst;
  if (name == "nnlshp") return PackingAlgorithm::kLeastSquares;
  throw_user_error("there is no packing algorithm {}; choose spfhp, lpfhp or nnlshp", name);
}

HistogramPacking pack_histogram(const LengthHistogram& histogram, PackingAlgorithm algorithm,
                                const PackingLimits& limits) {
  const PackingLimits checked = checked_limits(histogram, limits);
  switch (algorithm) {
    case PackingAlgorithm::kShortestPackFirst:
      return pack_shortest_first(histogram, checked);
    case PackingAlgorithm::kLongestPackFirst:
      return pack_longest_first(histogram, checked);
    case PackingAlgorithm::kLeastSquares:
      return pack_least_squares(histogram, checked);
  }
  CLOZE_CHECK(false, "packing algorithm {}", static_cast<int>(algorithm));
}

double PackingReport::sequences_per_pack() const { return ratio(sequences, packs); }
double PackingReport::compression() const { return 1.0 - ratio(packs, sequences); }
double PackingReport::bound() const { return ratio(pack_tokens * sequences, tokens); }
double PackingReport::efficiency() const { return ratio(tokens, packs * pack_tokens); }

PackingReport report_of(const LengthHistogram& histogram, const HistogramPacking& packing) {
  PackingReport report{.sequences = histogram.num_sequences(),
                       .tokens = histogram.num_tokens(),
                       .pack_tokens = packing.pack_tokens,
                       .strategies = std::ssize(packing.strategies)};
  for (const PackStrategy& strategy : packing.strategies) report.packs += strategy.count;
  return report;
}

std::string describe_packing(const LengthHistogram& histogram, const HistogramPacking& packing) {
  const PackingReport report = report_of(histogram, packing);
  std::string text =
      fmt::format("{} sequences of {:.1f} tokens on average, in packs of {}\n", report.sequences,
                  ratio(report.tokens, report.sequences), report.pack_tokens);
  if (packing.num_candidates > 0) {
    text += fmt::format("{} strategies considered\n", packing.num_candidates);
  }
  text += fmt::format(
      "{} packs of {} strategies\n{:.4f} sequences per pack, the expected speed-up; no packing "
      "reaches over {:.4f}\n{:.2f} % fewer rows, {:.2f} % of the tokens are real\n",
      report.packs, report.strategies, report.sequences_per_pack(), report.bound(),
      100 * report.compression(), 100 * report.efficiency());
  auto strategies = packing.strategies;
  std::stable_sort(strategies.begin(), strategies.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  strategies.resize(std::min(strategies.size(), kStrategiesShown));
  for (const PackStrategy& strategy : strategies) {
    text += fmt::format("  {:9} x {}\n", strategy.count, fmt::join(strategy.lengths, " + "));
  }
  return text;
}

}  // namespace cloze::data
