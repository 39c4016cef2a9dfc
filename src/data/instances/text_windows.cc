#include "data/instances/text_windows.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "data/part_place.h"

namespace cloze::data {
namespace {

constexpr int kPurposeShift = 62;
constexpr int kEpochShift = 40;
constexpr int64_t kTwoParts = 2;  // the fewest tokens of a pair

}  // namespace

PhiloxSource draw_source(uint64_t seed, DrawPurpose purpose, int64_t epoch, int64_t number) {
  return {seed, static_cast<uint64_t>(purpose) << kPurposeShift |
                    static_cast<uint64_t>(epoch) << kEpochShift | static_cast<uint64_t>(number)};
}

TextWindows::TextWindows(const Corpus& corpus, int64_t max_tokens, uint64_t seed)
    : corpus_(corpus), longest_(max_tokens), leeway_(max_tokens / 8), seed_(seed) {
  CLOZE_CHECK(max_tokens >= 2, "windows of {} tokens", max_tokens);
  window_ends_.reserve(static_cast<size_t>(corpus.documents()));
  int64_t windows = 0;
  for (int64_t document = 0; document < corpus.documents(); ++document) {
    window_ends_.push_back(windows += windows_in(corpus.tokens_in(document)));
  }
}

int64_t TextWindows::windows_in(int64_t tokens) const {
  if (tokens <= longest_) return 1;
  const int64_t distance = longest_ - leeway_;
  return 1 + (tokens - 3 * longest_ / 4 + distance - 1) / distance;
}

TextWindow TextWindows::window(int64_t index, int64_t epoch) const {
  CLOZE_CHECK(index >= 0 && index < size(), "window {} of {}", index, size());
  const auto [document, number] = part_place(window_ends_, index);
  const int64_t first_index = index - number;
  const Cutting cutting{.document = document,
                        .tokens = corpus_.tokens_in(document),
                        .windows = window_ends_[document] - first_index,
                        .first_index = first_index,
                        .epoch = epoch};
  return {.document = document, .begin = cut(cutting, number), .end = cut(cutting, number + 1)};
}

int64_t TextWindows::first_place(const Cutting& cutting) const {
  const int64_t distance = longest_ - leeway_;
  const int64_t behind_second = (cutting.windows - 2) * distance;
  // Leaves at most `distance` tokens from the last window's place on. The last and the first window
  // get enough tokens for two parts, where windows are long enough for a choice.
  const int64_t high = std::clamp<int64_t>(cutting.tokens - behind_second - kTwoParts, 1, longest_);
  const int64_t low = std::max(leeway_ + kTwoParts, cutting.tokens - behind_second - distance);
  return draw_source(seed_, DrawPurpose::kCut, cutting.epoch, cutting.first_index)
      .between(std::min(low, high), high);
}

int64_t TextWindows::cut(const Cutting& cutting, int64_t j) const {
  if (j == 0) return 0;
  if (j == cutting.windows) return cutting.tokens;
  const int64_t place = first_place(cutting) + (j - 1) * (longest_ - leeway_);
  const int64_t sentence = corpus_.sentence_at(cutting.document, place);
  const int64_t begin = corpus_.tokens_before(cutting.document, sentence);
  if (begin >= place - leeway_) return begin;
  return place - draw_source(seed_, DrawPurpose::kCut, cutting.epoch, cutting.first_index + j)
                     .between(0, leeway_);
}

TextWindow TextWindows::shortened(const TextWindow& window, double share, bool keeps_front) const {
  const int64_t places = window.size() - 2 * kTwoParts + 1;
  if (places < 1) return window;
  const int64_t place =
      window.begin + kTwoParts + static_cast<int64_t>(share * static_cast<double>(places));
  const int64_t sentence =
      corpus_.tokens_before(window.document, corpus_.sentence_at(window.document, place));
  const int64_t cut = sentence >= window.begin + kTwoParts ? sentence : place;
  return keeps_front ? TextWindow{window.document, window.begin, cut}
                     : TextWindow{window.document, cut, window.end};
}

bool TextWindows::holds_sentence_border(const TextWindow& window) const {
  return corpus_.sentence_at(window.document, window.begin) !=
         corpus_.sentence_at(window.document, window.end - 1);
}

std::vector<int64_t> TextWindows::borders(const TextWindow& window) const {
  const int64_t first = corpus_.sentence_at(window.document, window.begin);
  const int64_t last = corpus_.sentence_at(window.document, window.end - 1);
  std::vector<int64_t> borders;
  for (int64_t sentence = first + 1; sentence <= last; ++sentence) {
    borders.push_back(corpus_.tokens_before(window.document, sentence) - window.begin);
  }
  if (borders.empty()) {
    borders.resize(static_cast<size_t>(window.size() - 1));
    std::iota(borders.begin(), borders.end(), 1);
  }
  return borders;
}

}  // namespace cloze::data
