#include "data/offline_packing/nnls_packing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "data/offline_packing/nonnegative_least_squares.h"

namespace cloze::data {
namespace {

constexpr int kRounds = 20;
constexpr int64_t kFewLeft = 100;
constexpr int64_t kCheapLength = 8;
constexpr size_t kMostStrategies = 1'000'000;

using Strategy = std::vector<int32_t>;

void append_strategies(Strategy& start, int64_t shortest, int64_t tokens, int64_t parts,
                       std::vector<Strategy>& strategies) {
  if (parts == 1) {
    start.push_back(static_cast<int32_t>(tokens));
    strategies.push_back(start);
    start.pop_back();
    return;
  }
  for (int64_t length = shortest; length * parts <= tokens; ++length) {
    if (strategies.size() > kMostStrategies) return;
    start.push_back(static_cast<int32_t>(length));
    append_strategies(start, length, tokens - length, parts - 1, strategies);
    start.pop_back();
  }
}

SparseColumn column_of(const Strategy& strategy) {
  SparseColumn column;
  for (const int32_t length : strategy) {
    if (!column.empty() && column.back().row == length) {
      column.back().value += 1.0;
    } else {
      column.push_back({length, 1.0});
    }
  }
  return column;
}

// Below 2 to the nearest, from 2 on down: better to leave some sequences over than to pad.
int64_t rounded(double packs) {
  return static_cast<int64_t>(packs < 2.0 ? std::round(packs) : std::floor(packs));
}

class LeastSquaresPacker {
 public:
  LeastSquaresPacker(const LengthHistogram& histogram, int64_t pack_tokens,
                     std::vector<Strategy> strategies)
      : tokens_(pack_tokens),
        wanted_(histogram.counts),
        padding_(tokens_ + 1),
        strategies_(std::move(strategies)),
        mixture_(strategies_.size()),
        weights_(tokens_ + 1, 1.0) {
    wanted_.resize(tokens_ + 1);
    for (const Strategy& strategy : strategies_) columns_.push_back(column_of(strategy));
    const int64_t cheap = std::min(kCheapLength, tokens_);
    for (int64_t length = 1; length <= cheap; ++length) {
      weights_[length] = static_cast<double>(kCheapLength) / static_cast<double>(2 * tokens_);
    }
  }

  HistogramPacking pack() {
    std::vector<int64_t> left = wanted_;
    for (int round = 0; round < kRounds && total(left) >= kFewLeft; ++round) {
      std::vector<int64_t> packs = solve(left);
      if (total(packs) == 0) packs = most_wanted(left);
      add(packs);
      left = balance();
    }
    return finish(left);
  }

 private:
  static int64_t total(const std::vector<int64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), int64_t{0});
  }

  std::vector<int64_t> solve(const std::vector<int64_t>& left) const {
    const std::vector<double> b(left.begin(), left.end());
    const auto x = nonnegative_least_squares(columns_, b, weights_);
    std::vector<int64_t> packs(x.size());
    std::transform(x.begin(), x.end(), packs.begin(), rounded);
    return packs;
  }

  // Serves where everything rounds to 0: one more of the strategies that hold the most tokens of
  // what is left, half as many as there are sequences.
  std::vector<int64_t> most_wanted(const std::vector<int64_t>& left) const {
    std::vector<double> gain(columns_.size());
    for (size_t j = 0; j < columns_.size(); ++j) {
      for (const SparseEntry& entry : columns_[j]) {
        gain[j] += entry.value * static_cast<double>(left[entry.row] * entry.row);
      }
    }
    std::vector<size_t> order(gain.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto count = std::min<int64_t>(total(left) / 2 + 1, std::ssize(order));
    std::partial_sort(order.begin(), order.begin() + count, order.end(),
                      [&](size_t a, size_t b) { return gain[a] > gain[b]; });
    std::vector<int64_t> packs(gain.size());
    for (int64_t i = 0; i < count; ++i) packs[order[i]] = 1;
    return packs;
  }

  void add(const std::vector<int64_t>& packs) {
    for (size_t j = 0; j < packs.size(); ++j) mixture_[j] += packs[j];
  }

  // Declares the mixture's surplus as padding; returns what it lacks.
  std::vector<int64_t> balance() {
    std::vector<int64_t> left = wanted_;
    for (size_t j = 0; j < columns_.size(); ++j) {
      for (const int32_t length : strategies_[j]) left[length] -= mixture_[j];
    }
    for (size_t length = 0; length < left.size(); ++length) {
      padding_[length] = std::max<int64_t>(-left[length], 0);
      left[length] = std::max<int64_t>(left[length], 0);
    }
    return left;
  }

  HistogramPacking finish(const std::vector<int64_t>& left) {
    std::map<Strategy, int64_t> counts;
    for (size_t j = 0; j < mixture_.size(); ++j) {
      if (mixture_[j] > 0) counts[strategies_[j]] += mixture_[j];
    }
    for (int64_t length = 1; length <= tokens_; ++length) {
      if (left[length] == 0) continue;
      Strategy strategy{static_cast<int32_t>(length)};
      if (const int64_t rest = tokens_ - length; rest > 0) {
        strategy.push_back(static_cast<int32_t>(rest));
        padding_[rest] += left[length];
      }
      std::sort(strategy.begin(), strategy.end());
      counts[strategy] += left[length];
    }
    HistogramPacking packing{.pack_tokens = tokens_,
                             .padding = std::move(padding_),
                             .num_candidates = std::ssize(strategies_)};
    for (const auto& [lengths, count] : counts) packing.strategies.push_back({lengths, count});
    return packing;
  }

  int64_t tokens_;
  std::vector<int64_t> wanted_;   // by length
  std::vector<int64_t> padding_;  // by length
  std::vector<Strategy> strategies_;
  std::vector<SparseColumn> columns_;
  std::vector<int64_t> mixture_;  // by strategy
  std::vector<double> weights_;   // by length
};

}  // namespace

std::vector<std::vector<int32_t>> full_pack_strategies(int64_t pack_tokens, int64_t depth) {
  std::vector<Strategy> strategies;
  Strategy start;
  for (int64_t parts = 1; parts <= std::min(depth, pack_tokens); ++parts) {
    append_strategies(start, 1, pack_tokens, parts, strategies);
  }
  return strategies;
}

HistogramPacking pack_least_squares(const LengthHistogram& histogram, const PackingLimits& limits) {
  auto strategies = full_pack_strategies(limits.pack_tokens, limits.sequences_per_pack);
  if (strategies.size() > kMostStrategies) {
    throw_user_error(
        "packs of {} tokens with up to {} sequences have over {} strategies; lower the sequences "
        "per pack",
        limits.pack_tokens, limits.sequences_per_pack, kMostStrategies);
  }
  return LeastSquaresPacker(histogram, limits.pack_tokens, std::move(strategies)).pack();
}

}  // namespace cloze::data
