#include "data/offline_packing/greedy_packing.h"

#include <algorithm>
#include <map>
#include <utility>

namespace cloze::data {
namespace {

enum class Fit { kMostRoom, kLeastRoom };

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

HistogramPacking pack_shortest_first(const LengthHistogram& histogram,
                                     const PackingLimits& limits) {
  return GreedyPacker(limits, Fit::kMostRoom).pack(histogram);
}

HistogramPacking pack_longest_first(const LengthHistogram& histogram, const PackingLimits& limits) {
  return GreedyPacker(limits, Fit::kLeastRoom).pack(histogram);
}

}  // namespace cloze::data
