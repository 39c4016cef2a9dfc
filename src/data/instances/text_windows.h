// Text windows: an epoch cuts every document into windows of at most L tokens, so that each token
// of the text lies in exactly one of them.
//
// A document of T tokens has  n = 1  window if T <= L, else  n = 1 + ceil((T - 3L/4) / D)  with
// D = L - R, R = L/8. Window j is the tokens [c(j), c(j + 1)), where c(0) = 0, c(n) = T and
//
//   t(j) = t(1) + (j - 1) D,     t(1) drawn anew for each epoch so that the last window fits
//   c(j) = the last beginning of a sentence in [t(j) - R, t(j)],
//          or a random token of that range where no sentence begins in it
//
// so that windows begin at sentences where they can and inside a long sentence where they must. A
// window costs the same whatever the length of its document and of its sentences: it takes two
// searches for a sentence, and reads nothing but its own tokens.
//
// Reading is thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "data/corpus/corpus.h"
#include "data/instances/random_source.h"

namespace cloze::data {

// Tokens [begin, end) of a document; never empty.
struct TextWindow {
  int64_t document = 0;
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};

// The purpose of a stream of random numbers, part of its name besides the seed, the epoch and a
// window's number.
enum class DrawPurpose : uint64_t { kSample, kCut, kPair, kEpoch };
PhiloxSource draw_source(uint64_t seed, DrawPurpose purpose, int64_t epoch, int64_t number);

class TextWindows {
 public:
  // Keeps a reference to the corpus. max_tokens: L, at least 2.
  TextWindows(const Corpus& corpus, int64_t max_tokens, uint64_t seed);

  int64_t size() const { return window_ends_.back(); }  // windows in an epoch
  TextWindow window(int64_t index, int64_t epoch) const;

  // Places where the window can be cut in two, counted from its beginning, ascending: at the
  // sentences that begin inside it; at any token when none does. Empty for a window of one token.
  std::vector<int64_t> borders(const TextWindow& window) const;
  // The tokens before a cut at this share of the window, or those after it. The cut is at the last
  // sentence that begins before there, if one does. Both have two tokens at least; a window of
  // fewer than four stays whole.
  TextWindow shortened(const TextWindow& window, double share, bool keeps_front) const;
  // Says whether a sentence begins inside the window, its first token apart.
  bool holds_sentence_border(const TextWindow& window) const;

 private:
  // The windows of one document in one epoch.
  struct Cutting {
    int64_t document = 0;
    int64_t tokens = 0;
    int64_t windows = 0;
    int64_t first_index = 0;  // of its windows
    int64_t epoch = 0;
  };
  int64_t windows_in(int64_t tokens) const;
  int64_t first_place(const Cutting& cutting) const;     // t(1)
  int64_t cut(const Cutting& cutting, int64_t j) const;  // c(j)

  const Corpus& corpus_;
  int64_t longest_;  // L
  int64_t leeway_;   // R
  uint64_t seed_;
  std::vector<int64_t> window_ends_;  // by document
};

}  // namespace cloze::data
