#include "data/creation/pair_instances.h"

namespace cloze::data {
namespace {

constexpr int64_t kSpecialTokens = 3;  // [CLS], [SEP], [SEP]
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

PairInstances::PairInstances(const Corpus& corpus, std::span<const uint32_t> order,
                             const VocabularyIds& vocabulary, const PairOptions& options)
    : corpus_(corpus),
      order_(order),
      vocabulary_(vocabulary),
      options_(options),
      max_tokens_(options.masking.sequence_length - kSpecialTokens) {}

void PairInstances::append(int64_t place, RandomSource& random,
                           std::vector<Sample>& samples) const {
  const int64_t document = order_[static_cast<size_t>(place)];
  const int64_t target = draw_target_length(random);
  for (int64_t sentence = 0; sentence < corpus_.sentences_in(document);) {
    const Chunk chunk = gather(document, sentence, target);
    sentence = append_instance(place, chunk, target, random, samples);
  }
}

int64_t PairInstances::draw_target_length(RandomSource& random) const {
  if (random.uniform() < options_.short_sequence_probability) return random.between(2, max_tokens_);
  return max_tokens_;
}

PairInstances::Chunk PairInstances::gather(int64_t document, int64_t begin, int64_t target) const {
  const int64_t last = corpus_.sentences_in(document);
  int64_t end = begin;
  for (int64_t tokens = 0; end < last && tokens < target; ++end) {
    tokens += corpus_.sentence_length(document, end);
  }
  return {.begin = begin, .end = end};
}

int64_t PairInstances::append_instance(int64_t place, Chunk chunk, int64_t target,
                                       RandomSource& random, std::vector<Sample>& samples) const {
  const int64_t document = order_[static_cast<size_t>(place)];
  const int64_t sentences = chunk.end - chunk.begin;
  const int64_t first_sentences = sentences >= 2 ? random.between(1, sentences - 1) : 1;
  const int64_t border = chunk.begin + first_sentences;
  const std::vector<int32_t> first_ids = ids_of(document, chunk.begin, border);

  const bool random_next = sentences == 1 || random.uniform() < 0.5;
  const auto wanted = target - static_cast<int64_t>(first_ids.size());
  const std::vector<int32_t> second_ids =
      random_next ? random_second_part(place, wanted, random) : ids_of(document, border, chunk.end);
  std::span<const int32_t> first = first_ids;
  std::span<const int32_t> second = second_ids;
  truncate_pair(first, second, max_tokens_, random);
  Sample sample = pair(first, second);
  sample.next_sentence_label = random_next ? 1 : 0;
  mask_sample(options_.masking, vocabulary_, random, sample);
  samples.push_back(std::move(sample));
  return random_next ? border : chunk.end;
}

std::vector<int32_t> PairInstances::random_second_part(int64_t place, int64_t wanted,
                                                       RandomSource& random) const {
  // When every try hits the same document it is used all the same, as in the source.
  int64_t other = place;
  for (int i = 0; i < kDocumentTries && other == place; ++i) {
    other = random.between(0, static_cast<int64_t>(order_.size()) - 1);
  }
  const int64_t document = order_[static_cast<size_t>(other)];
  const int64_t sentences = corpus_.sentences_in(document);
  std::vector<int32_t> ids;
  for (int64_t s = random.between(0, sentences - 1); s < sentences; ++s) {
    corpus_.append_ids(document, s, ids);
    if (static_cast<int64_t>(ids.size()) >= wanted) break;
  }
  return ids;
}

std::vector<int32_t> PairInstances::ids_of(int64_t document, int64_t begin, int64_t end) const {
  std::vector<int32_t> ids;
  for (int64_t s = begin; s < end; ++s) corpus_.append_ids(document, s, ids);
  return ids;
}

Sample PairInstances::pair(std::span<const int32_t> first, std::span<const int32_t> second) const {
  Sample sample;
  std::vector<int32_t>& ids = sample.input_ids;
  ids.reserve(first.size() + second.size() + kSpecialTokens);
  ids.push_back(vocabulary_.cls);
  ids.insert(ids.end(), first.begin(), first.end());
  ids.push_back(vocabulary_.sep);
  sample.token_type_ids.assign(ids.size(), 0);
  ids.insert(ids.end(), second.begin(), second.end());
  ids.push_back(vocabulary_.sep);
  sample.token_type_ids.resize(ids.size(), 1);
  return sample;
}

}  // namespace cloze::data
