// Pair instances: sequences  [CLS] A [SEP] B [SEP]  of at most S tokens, cut from documents.
//
// Sentences are gathered until they fill the target length: S - 3, or with probability
// `short_sequence_probability` a length drawn from [2, S - 3]. What the parts are depends on what
// is to be learnt of the next sentence:
//
//   random   the chunk is cut at a random sentence into A and B (label 0); with one sentence only,
//            or half of the time, B comes from a random document instead (label 1), and the unused
//            sentences go back                                         (Devlin et al. 2018, BERT)
//   order    A and B follow each other, and change places half of the time (label 1); a chunk of
//   one
//            sentence is one part without a label                      (Lan et al. 2019, ALBERT)
//   none     one part  [CLS] A [SEP], which may have S - 2 tokens; no label
//                                         (Liu et al. 2019, RoBERTa, called DOC-SENTENCES there)
//
// A pair that is too long loses tokens from the front or the back of its longer part, by the flip
// of a coin; a single part loses its end. Numbers are drawn in the order of Google's script, so
// that with PythonRandom the instances of "random" are the same. Source: google-research/bert
// create_pretraining_data.py, create_instances_from_document.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "data/corpus/corpus.h"
#include "data/instances/masking.h"
#include "data/instances/random_source.h"
#include "data/sample.h"

namespace cloze::data {

enum class NextSentence { kRandom, kOrder, kNone };

struct PairOptions {
  double short_sequence_probability = 0.1;
  NextSentence next_sentence = NextSentence::kRandom;
  MaskingOptions masking;  // with the sequence length
};

class PairInstances {
 public:
  // Keeps a reference to the corpus.
  PairInstances(const Corpus& corpus, const VocabularyIds& vocabulary, const PairOptions& options);

  // Appends the masked instances that tile a document; one target length is drawn for all.
  void append(int64_t document, RandomSource& random, std::vector<Sample>& samples) const;

  // One masked instance that begins at a sentence, with a target length of its own.
  Sample draw(int64_t document, int64_t sentence, RandomSource& random) const;

  // Tokens of text in a sequence that is full.
  int64_t max_tokens() const { return max_tokens_; }

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
  Sample random_pair(Chunk& chunk, int64_t target, RandomSource& random) const;
  Sample ordered_pair(const Chunk& chunk, RandomSource& random) const;
  Ids random_second_part(int64_t document, int64_t wanted, RandomSource& random) const;
  Ids ids_of(int64_t document, int64_t begin, int64_t end) const;
  // A pair, or with an empty `second` a single part; shortened to fit.
  Sample joined(std::span<const int32_t> first, std::span<const int32_t> second, int32_t label,
                RandomSource& random) const;

  const Corpus& corpus_;
  VocabularyIds vocabulary_;
  PairOptions options_;
  int64_t max_tokens_;  // of all parts together
};

}  // namespace cloze::data
