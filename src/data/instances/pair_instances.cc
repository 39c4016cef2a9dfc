#include "data/instances/pair_instances.h"

#include "data/sequence.h"

namespace cloze::data {
namespace {

constexpr int kDocumentTries = 10;

// Shortens the longer of the two (the second when they tie) until both fit.
void truncate_pair(std::span<const int32_t>& first, std::span<const int32_t>& second,
                   int64_t max_tokens, RandomSource& random) {
  while (static_cast<int64_t>(first.size() + second.size()) > max_tokens) {
    std::span<const int32_t>& longer = first.size() > second.size() ? first : second;
    longer = random.uniform() < 0.5 ? longer.subspan(1) : longer.first(longer.size() - 1);
  }
}

}  // namespace

PairInstances::PairInstances(const Corpus& corpus, const VocabularyIds& vocabulary,
                             const PairOptions& options)
    : corpus_(corpus),
      vocabulary_(vocabulary),
      options_(options),
      max_tokens_(options.masking.sequence_length - kPairBorders) {}

void PairInstances::append(int64_t document, RandomSource& random,
                           std::vector<Sample>& samples) const {
  const int64_t target = draw_target_length(random);
  for (int64_t sentence = 0; sentence < corpus_.sentences_in(document);) {
    Chunk chunk = gather(document, sentence, target);
    samples.push_back(instance(chunk, target, random));
    sentence = chunk.end;
  }
}

int64_t PairInstances::draw_target_length(RandomSource& random) const {
  if (random.uniform() < options_.short_sequence_probability) return random.between(2, max_tokens_);
  return max_tokens_;
}

PairInstances::Chunk PairInstances::gather(int64_t document, int64_t begin, int64_t target) const {
  const int64_t last = corpus_.sentences_in(document);
  const int64_t tokens_before = corpus_.tokens_before(document, begin);
  int64_t end = begin;
  while (end < last && corpus_.tokens_before(document, end) - tokens_before < target) ++end;
  return {.document = document, .begin = begin, .end = end};
}

Sample PairInstances::instance(Chunk& chunk, int64_t target, RandomSource& random) const {
  Sample sample = pair(chunk, target, random);
  mask_sample(options_.masking, vocabulary_, random, sample);
  return sample;
}

Sample PairInstances::pair(Chunk& chunk, int64_t target, RandomSource& random) const {
  const int64_t first_sentences =
      chunk.sentences() >= 2 ? random.between(1, chunk.sentences() - 1) : 1;
  const int64_t border = chunk.begin + first_sentences;
  const Ids first = ids_of(chunk.document, chunk.begin, border);
  const bool is_random = chunk.sentences() == 1 || random.uniform() < 0.5;
  if (!is_random) {
    return joined(first, ids_of(chunk.document, border, chunk.end), 0, random);
  }
  chunk.end = border;
  return joined(first, random_second_part(chunk.document, target - std::ssize(first), random), 1,
                random);
}

PairInstances::Ids PairInstances::random_second_part(int64_t document, int64_t wanted,
                                                     RandomSource& random) const {
  // When every try hits the same document it is used all the same, as in the source.
  int64_t other = document;
  for (int i = 0; i < kDocumentTries && other == document; ++i) {
    other = random.between(0, corpus_.documents() - 1);
  }
  const int64_t sentences = corpus_.sentences_in(other);
  const int64_t begin = random.between(0, sentences - 1);
  const int64_t tokens_before = corpus_.tokens_before(other, begin);
  int64_t end = begin + 1;
  while (end < sentences && corpus_.tokens_before(other, end) - tokens_before < wanted) ++end;
  return ids_of(other, begin, end);
}

PairInstances::Ids PairInstances::ids_of(int64_t document, int64_t begin, int64_t end) const {
  Ids ids;
  corpus_.append_ids(document, begin, end, ids);
  return ids;
}

Sample PairInstances::joined(std::span<const int32_t> first, std::span<const int32_t> second,
                             int32_t label, RandomSource& random) const {
  truncate_pair(first, second, max_tokens_, random);
  return sequence_of(first, second, {vocabulary_.cls, vocabulary_.sep}, label);
}

}  // namespace cloze::data
