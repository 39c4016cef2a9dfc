// Masking: chooses the tokens of a sequence that BERT has to guess and replaces them.
//
//   n = min(M, max(1, round_half_even(len * probability)))        (Devlin et al. 2018)
// The first n of the shuffled candidates (all but [CLS] and [SEP]) become: [MASK] with probability
// 0.8; else, half and half, themselves or any entry of the vocabulary, special ones included.
// With `whole_words` the candidates are words: all pieces of a word are chosen, or none. A word
// that would go beyond n is passed over, so that fewer than n may be chosen.
//
// Source: google-research/bert create_pretraining_data.py.
#pragma once

#include <cstdint>
#include <vector>

#include "data/instances/random_source.h"
#include "data/sample.h"
#include "text/vocabulary.h"

namespace cloze::data {

// The ids of a vocabulary that masking needs.
struct VocabularyIds {
  int32_t cls = 0;
  int32_t sep = 0;
  int32_t mask = 0;
  int32_t size = 0;
  // Has 1 by id for a piece that goes on with the word before it. Only whole_words looks at it.
  std::vector<uint8_t> continues_word;
};
VocabularyIds vocabulary_ids(const text::Vocabulary& vocabulary);

struct MaskingOptions {
  int64_t sequence_length = 128;  // S
  int64_t max_predictions = 20;   // M
  double probability = 0.15;
  bool whole_words = false;
};

// The number of `length` tokens that are masked.
int64_t predictions_for(int64_t length, const MaskingOptions& options);

// The most tokens, len <= S, for which M reserved slots and the len - n tokens that are not masked
// fit into S. Re-masked records are of such sequences. Not with whole_words, which may choose fewer
// than n.
int64_t longest_with_slots(const MaskingOptions& options);

// Masks `sample` in place: fills masked_positions and masked_labels, changes input_ids.
void mask_sample(const MaskingOptions& options, const VocabularyIds& vocabulary,
                 RandomSource& random, Sample& sample);

}  // namespace cloze::data
