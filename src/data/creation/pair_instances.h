// Pair instances: cuts a document into sequences  [CLS] A [SEP] B [SEP]  of at most S tokens, where
// B follows A in the text (label 0) or comes from a random document (label 1).
//
// Sentences are gathered until they fill the target length: S - 3, or with probability
// `short_sequence_probability` a length drawn once per document from [2, S - 3]. The chunk is cut
// at a random sentence into A and B. With one sentence only, or half of the time, B is taken from
// another document instead and the unused sentences go back. A pair that is too long loses tokens
// from the front or the back of its longer part, by the flip of a coin.
//
// Numbers are drawn in the order of Google's script, so that with PythonRandom the instances are
// the same. Source: google-research/bert create_pretraining_data.py,
// create_instances_from_document.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/creation/corpus.h"
#include "data/creation/masking.h"
#include "data/creation/random_source.h"
#include "data/sample.h"

namespace cloze::data {

struct PairOptions {
  double short_sequence_probability = 0.1;
  MaskingOptions masking;  // with the sequence length
};

class PairInstances {
 public:
  // `order` lists the corpus's documents; instances name documents by their place in it. Keeps
  // references to corpus and order.
  PairInstances(const Corpus& corpus, std::span<const uint32_t> order,
                const VocabularyIds& vocabulary, const PairOptions& options);

  // Appends the masked instances of the document at `place`.
  void append(int64_t place, RandomSource& random, std::vector<Sample>& samples) const;

 private:
  struct Chunk {
    int64_t begin = 0;  // sentences [begin, end) of the document
    int64_t end = 0;
  };
  int64_t draw_target_length(RandomSource& random) const;
  Chunk gather(int64_t document, int64_t begin, int64_t target) const;
  // Makes one instance and returns the sentence at which the next chunk begins.
  int64_t append_instance(int64_t place, Chunk chunk, int64_t target, RandomSource& random,
                          std::vector<Sample>& samples) const;
  std::vector<int32_t> random_second_part(int64_t place, int64_t wanted,
                                          RandomSource& random) const;
  std::vector<int32_t> ids_of(int64_t document, int64_t begin, int64_t end) const;
  Sample pair(std::span<const int32_t> first, std::span<const int32_t> second) const;

  const Corpus& corpus_;
  std::span<const uint32_t> order_;
  VocabularyIds vocabulary_;
  PairOptions options_;
  int64_t max_tokens_;  // of A and B together
};

}  // namespace cloze::data
