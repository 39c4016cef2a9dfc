// Pair instances: sequences  [CLS] A [SEP] B [SEP]  of at most S tokens, cut from documents.
//
// Sentences are gathered until they fill the target length: S - 3, or with probability
// `short_sequence_probability` a length drawn from [2, S - 3]. The chunk is cut at a random
// sentence into A and B (label 0); with one sentence only, or half of the time, B comes from a
// random document instead (label 1), and the unused sentences go back.
//
// A pair that is too long loses tokens from the front or the back of its longer part, by the flip
// of a coin. Numbers are drawn in the order of Google's script, so that with PythonRandom the
// instances are the same. Sources: Devlin et al. 2018; google-research/bert
// create_pretraining_data.py, create_instances_from_document.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/corpus/corpus.h"
#include "data/instances/masking.h"
#include "data/instances/random_source.h"
#include "data/sample.h"

namespace cloze::data {

struct PairOptions {
  double short_sequence_probability = 0.1;
  MaskingOptions masking;  // with the sequence length
};

class PairInstances {
 public:
  // Keeps a reference to the corpus.
  PairInstances(const Corpus& corpus, const VocabularyIds& vocabulary, const PairOptions& options);

  // Appends the masked instances that tile a document; one target length is drawn for all.
  void append(int64_t document, RandomSource& random, std::vector<Sample>& samples) const;

 private:
  // Sentences [begin, end) of the document.
  struct Chunk {
    int64_t document = 0;
    int64_t begin = 0;
    int64_t end = 0;
    int64_t sentences() const { return end - begin; }
  };
  using Ids = std::vector<int32_t>;

  int64_t draw_target_length(RandomSource& random) const;
  Chunk gather(int64_t document, int64_t begin, int64_t target) const;
  // Makes one instance of the chunk; `chunk.end` becomes the first sentence that it leaves over.
  Sample instance(Chunk& chunk, int64_t target, RandomSource& random) const;
  Sample pair(Chunk& chunk, int64_t target, RandomSource& random) const;
  Ids random_second_part(int64_t document, int64_t wanted, RandomSource& random) const;
  Ids ids_of(int64_t document, int64_t begin, int64_t end) const;
  // A pair, shortened to fit.
  Sample joined(std::span<const int32_t> first, std::span<const int32_t> second, int32_t label,
                RandomSource& random) const;

  const Corpus& corpus_;
  VocabularyIds vocabulary_;
  PairOptions options_;
  int64_t max_tokens_;  // of all parts together
};

}  // namespace cloze::data
