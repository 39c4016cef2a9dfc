#include "data/instances/window_instances.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/division.h"
#include "data/sequence.h"

namespace cloze::data {
namespace {

constexpr int64_t kWindowsLookedAt = 1024;

TextWindow before(const TextWindow& window, int64_t border) {
  return {window.document, window.begin, window.begin + border};
}
TextWindow after(const TextWindow& window, int64_t border) {
  return {window.document, window.begin + border, window.end};
}

int64_t any_of(std::span<const int64_t> items, RandomSource& random) {
  return items[random.below(static_cast<uint32_t>(items.size()))];
}

// Elements of an ascending row that lie in [low, high].
std::span<const int64_t> within(std::span<const int64_t> row, int64_t low, int64_t high) {
  return {std::ranges::lower_bound(row, low), std::ranges::upper_bound(row, high)};
}

}  // namespace

WindowInstances::WindowInstances(const Corpus& corpus, const VocabularyIds& vocabulary,
                                 const WindowOptions& options, uint64_t seed)
    : corpus_(corpus),
      vocabulary_(vocabulary),
      options_(options),
      seed_(seed),
      max_tokens_(options.masking.sequence_length -
                  num_borders(options.next_sentence != NextSentence::kNone)),
      windows_(corpus, max_tokens_, seed) {}

Sample WindowInstances::instance(int64_t index, int64_t epoch) const {
  PhiloxSource random = draw_source(seed_, DrawPurpose::kSample, epoch, index);
  const Parts drawn = parts(index, epoch, random);
  std::optional<Ids> second;
  if (drawn.second) second = ids_of(*drawn.second);
  Sample sample =
      sequence_of(ids_of(drawn.first), second, {vocabulary_.cls, vocabulary_.sep}, drawn.label);
  mask_sample(options_.masking, vocabulary_, random, sample);
  return sample;
}

double WindowInstances::pairs_inside_a_sentence() const {
  if (options_.next_sentence == NextSentence::kNone) return 0;
  const int64_t step = divide_up(size(), kWindowsLookedAt);
  int64_t looked_at = 0;
  int64_t inside = 0;
  for (int64_t index = 0; index < size(); index += step, ++looked_at) {
    inside += windows_.holds_sentence_border(windows_.window(index, 0)) ? 0 : 1;
  }
  return static_cast<double>(inside) / static_cast<double>(looked_at);
}

int64_t WindowInstances::partner(int64_t index, int64_t epoch) const {
  if (options_.next_sentence != NextSentence::kRandom) return index;
  constexpr int64_t kMost = std::numeric_limits<uint32_t>::max();
  const auto sum = static_cast<int64_t>(draw_source(seed_, DrawPurpose::kEpoch, epoch, 0)
                                            .below(static_cast<uint32_t>(std::min(size(), kMost))));
  return sum >= index ? sum - index : sum - index + size();
}

// Two windows draw what they share from the same source, which is named after the lower of them.
WindowInstances::Parts WindowInstances::parts(int64_t index, int64_t epoch,
                                              RandomSource& random) const {
  const int64_t other = partner(index, epoch);
  const auto [low, high] = std::minmax(index, other);
  PhiloxSource shared = draw_source(seed_, DrawPurpose::kPair, epoch, low);
  std::array windows{windows_.window(low, epoch), windows_.window(high, epoch)};
  if (shared.uniform() < options_.short_sequence_probability) {
    const double share = shared.uniform();
    const bool keeps_front = shared.uniform() < 0.5;
    for (TextWindow& window : windows) window = windows_.shortened(window, share, keeps_front);
  }
  const int own = index == low ? 0 : 1;
  if (low != high && shared.uniform() < 0.5) {
    if (const auto both = exchanged(windows[0], windows[1], shared)) return (*both)[own];
  }
  return consecutive(windows[own], random);
}

WindowInstances::Parts WindowInstances::consecutive(const TextWindow& window,
                                                    RandomSource& random) const {
  if (options_.next_sentence == NextSentence::kNone || window.size() < 2) return {.first = window};
  const int64_t border = any_of(windows_.borders(window), random);
  const bool is_swapped = options_.next_sentence == NextSentence::kOrder && random.uniform() < 0.5;
  if (is_swapped) return {after(window, border), before(window, border), 1};
  return {before(window, border), after(window, border), 0};
}

// X1 Y2 has  x + |Y| - y  tokens and Y1 X2 has  y + |X| - x, where x and y are the borders.
std::optional<std::array<WindowInstances::Parts, 2>> WindowInstances::exchanged(
    const TextWindow& x, const TextWindow& y, RandomSource& random) const {
  const std::vector<int64_t> x_borders = windows_.borders(x);
  const std::vector<int64_t> y_borders = windows_.borders(y);
  if (x_borders.empty()) return std::nullopt;
  const size_t start = random.below(static_cast<uint32_t>(x_borders.size()));
  for (size_t i = 0; i < x_borders.size(); ++i) {
    const int64_t x_border = x_borders[(start + i) % x_borders.size()];
    const auto fitting =
        within(y_borders, x_border - (max_tokens_ - y.size()), x_border + (max_tokens_ - x.size()));
    if (fitting.empty()) continue;
    const int64_t y_border = any_of(fitting, random);
    return std::array{Parts{before(x, x_border), after(y, y_border), 1},
                      Parts{before(y, y_border), after(x, x_border), 1}};
  }
  return std::nullopt;
}

WindowInstances::Ids WindowInstances::ids_of(const TextWindow& window) const {
  Ids ids;
  corpus_.append_tokens(window.document, window.begin, window.end, ids);
  return ids;
}

}  // namespace cloze::data
