#include "data/offline_packing/histogram_packing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
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
    throw_user_error("a sequence of {} tokens does not fit a pack of {}; raise the pack length",
                     longest, limits.pack_tokens);
  }
  if (limits.sequences_per_pack < 0) {
    throw_user_error("{} sequences per pack; give a positive number, or 0 for no limit",
                     limits.sequences_per_pack);
  }
  if (limits.sequences_per_pack == 0) limits.sequences_per_pack = limits.pack_tokens;
  return limits;
}

enum class Fit { kMostRoom, kLeastRoom };

// Walks from the longest length to the shortest. Sequences of one length that meet packs of one
// kind are placed together, so the work grows with L, not with the number of sequences. All numbers
// in `limits` are positive.
class GreedyPacker {
 public:
  GreedyPacker(const PackingLimits& limits, Fit fit)
      : tokens_(limits.pack_tokens), depth_(limits.sequences_per_pack), fit_(fit) {}

  HistogramPacking pack(const LengthHistogram& histogram) {
    for (int64_t length = histogram.longest(); length > 0; --length) {
      place(length, histogram.counts[length]);
    }
    HistogramPacking packing{.pack_tokens = tokens_, .strategies = std::move(closed_)};
    for (auto& [room, strategies] : open_) {
      for (PackStrategy& strategy : strategies) packing.strategies.push_back(std::move(strategy));
    }
    return packing;
  }

 private:
  using OpenPacks = std::map<int64_t, std::vector<PackStrategy>>;  // by room

  void place(int64_t length, int64_t count) {
    while (count > 0) {
      const auto place = choose(length);
      if (place == open_.end()) {
        // Shortest-pack-first opens a pack for each that is left; a shorter length comes to it.
        count -= fill({.lengths = {}, .count = count}, tokens_, length, count);
        continue;
      }
      const int64_t room = place->first;
      PackStrategy packs = std::move(place->second.back());
      place->second.pop_back();
      if (place->second.empty()) open_.erase(place);
      count -= fill(std::move(packs), room, length, count);
    }
  }

  OpenPacks::iterator choose(int64_t length) {
    if (fit_ == Fit::kLeastRoom) return open_.lower_bound(length);
    if (open_.empty() || open_.rbegin()->first < length) return open_.end();
    return std::prev(open_.end());
  }

  // Puts sequences of a length into packs of one kind; returns how many found a place.
  int64_t fill(PackStrategy packs, int64_t room, int64_t length, int64_t count) {
    const int64_t most = std::min(depth_ - std::ssize(packs.lengths), room / length);
    const int64_t copies = fit_ == Fit::kLeastRoom ? std::min(most, count) : 1;
    const int64_t filled = std::min(packs.count, count / copies);
    if (filled < packs.count && !packs.lengths.empty()) {
      open_[room].push_back({packs.lengths, packs.count - filled});
    }
    packs.lengths.insert(packs.lengths.end(), copies, static_cast<int32_t>(length));
    packs.count = filled;
    keep(std::move(packs), room - copies * length);
    return filled * copies;
  }

  void keep(PackStrategy packs, int64_t room) {
    const bool is_full = room == 0 || std::ssize(packs.lengths) == depth_;
    (is_full ? closed_ : open_[room]).push_back(std::move(packs));
  }

  int64_t tokens_;
  int64_t depth_;
  Fit fit_;
  OpenPacks open_;
  std::vector<PackStrategy> closed_;
};

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
      return GreedyPacker(checked, Fit::kMostRoom).pack(histogram);
    case PackingAlgorithm::kLongestPackFirst:
      return GreedyPacker(checked, Fit::kLeastRoom).pack(histogram);
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
      "exceeds {:.4f}\n{:.2f} % fewer rows, {:.2f} % of the tokens are real\n",
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
