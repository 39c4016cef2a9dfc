// Window instances: masked sequences drawn from the windows of an epoch (text_windows.h), one for
// each, as a function of (corpus, options, seed, epoch, index). What the model is to learn about
// the next sentence decides their form:
//
//   random   [CLS] A [SEP] B [SEP]: a window X is cut into X1 X2 where a sentence begins, and that
//            is the pair of label 0. Half of the time it exchanges second parts with a window Y
//            from elsewhere, X1 Y2 and Y1 X2, both of label 1        (after Devlin et al. 2018)
//   order    X1 X2, half of the time as X2 X1 with label 1           (Lan et al. 2019, ALBERT)
//   none     [CLS] X [SEP], no label                                 (Liu et al. 2019, RoBERTa)
//
// Window i exchanges with window (c - i) mod n, c drawn for each epoch, if there are borders for
// which both sequences fit: nothing is cut off, so that an epoch meets every token once. With
// probability `short_sequence_probability` a window keeps only the tokens before a cut, or only
// those after it; each is equally likely, so that still every token is met equally often. A window
// in which no sentence begins is cut at any token; one of a single token has no second part and no
// label.
//
// Reading is thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/corpus/corpus.h"
#include "data/instances/masking.h"
#include "data/instances/text_windows.h"
#include "data/sample.h"

namespace cloze::data {

enum class NextSentence { kRandom, kOrder, kNone };

struct WindowOptions {
  double short_sequence_probability = 0.1;
  NextSentence next_sentence = NextSentence::kRandom;
  MaskingOptions masking;  // with the sequence length
};

class WindowInstances {
 public:
  // Keeps a reference to the corpus.
  WindowInstances(const Corpus& corpus, const VocabularyIds& vocabulary,
                  const WindowOptions& options, uint64_t seed);

  int64_t size() const { return windows_.size(); }
  Sample instance(int64_t index, int64_t epoch) const;

  // The share of the pairs that are cut inside a sentence because none begins in their window,
  // measured on some thousand windows. 0 without pairs.
  double pairs_inside_a_sentence() const;

 private:
  using Ids = std::vector<int32_t>;
  struct Parts {
    TextWindow first;
    std::optional<TextWindow> second;
    int32_t label = -1;
  };

  int64_t partner(int64_t index, int64_t epoch) const;
  Parts parts(int64_t index, int64_t epoch, RandomSource& random) const;
  Parts consecutive(const TextWindow& window, RandomSource& random) const;
  // Exchanges parts of two windows: what the first becomes, then what the second becomes.
  std::optional<std::array<Parts, 2>> exchanged(const TextWindow& x, const TextWindow& y,
                                                RandomSource& random) const;
  Ids ids_of(const TextWindow& window) const;

  const Corpus& corpus_;
  VocabularyIds vocabulary_;
  WindowOptions options_;
  uint64_t seed_;
  int64_t max_tokens_;  // of text in a full sequence
  TextWindows windows_;
};

}  // namespace cloze::data
