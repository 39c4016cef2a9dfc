#include "data/instances/pair_instances.h"

#include <gtest/gtest.h>

#include <numeric>

#include "data/corpus/array_corpus.h"
#include "data/id_count.h"

namespace cloze::data {
namespace {

const VocabularyIds kVocabulary{.cls = 1, .sep = 2, .mask = 3, .size = 100'000};

// Every token of the corpus has its own id, so that its origin can be told: document * 1000 +
// index.
MemoryCorpus numbered_corpus(int64_t documents, int64_t sentences, int64_t words) {
  MemoryCorpus corpus(kVocabulary.size);
  for (int64_t d = 1; d <= documents; ++d) {
    int32_t id = static_cast<int32_t>(d * 1000);
    for (int64_t s = 0; s < sentences; ++s) {
      std::vector<int32_t> ids(static_cast<size_t>(words));
      std::iota(ids.begin(), ids.end(), id);
      id += static_cast<int32_t>(words);
      corpus.append_sentence(ids);
    }
    corpus.end_document();
  }
  return corpus;
}

TEST(PairInstancesTest, LabelSaysWhetherTheSecondPartFollows) {
  const MemoryCorpus corpus = numbered_corpus(5, 12, 7);
  const PairInstances instances(corpus, kVocabulary,
                                {.masking = {.sequence_length = 64, .max_predictions = 10}});
  std::vector<Sample> samples;
  for (int64_t place = 0; place < corpus.documents(); ++place) {
    PhiloxSource random(7, static_cast<uint64_t>(place));
    instances.append(place, random, samples);
  }
  ASSERT_GT(samples.size(), 10u);
  int random_next = 0;
  for (const Sample& sample : samples) {
    const std::vector<int32_t> ids = unmasked_ids(sample);
    ASSERT_LE(ids.size(), 64u);
    ASSERT_EQ(ids.size(), sample.token_type_ids.size());
    EXPECT_EQ(ids.front(), kVocabulary.cls);
    EXPECT_EQ(ids.back(), kVocabulary.sep);
    size_t border = 1;
    while (ids[border] != kVocabulary.sep) ++border;
    EXPECT_EQ(sample.token_type_ids[border], 0);
    EXPECT_EQ(sample.token_type_ids[border + 1], 1);
    const bool same_document = ids[border - 1] / 1000 == ids[border + 1] / 1000;
    EXPECT_EQ(same_document, sample.next_sentence_label == 0);
    random_next += sample.next_sentence_label;
  }
  EXPECT_GT(random_next, 0);
  EXPECT_LT(random_next, static_cast<int>(samples.size()));
}

TEST(PairInstancesTest, EverySentenceIsUsedAsTextOnce) {
  const MemoryCorpus corpus = numbered_corpus(2, 20, 5);
  const PairInstances instances(
      corpus, kVocabulary,
      {.short_sequence_probability = 0, .masking = {.sequence_length = 103, .max_predictions = 5}});
  // With 100 tokens of room and sentences of 5 nothing of a following B is cut off.
  std::vector<Sample> samples;
  PhiloxSource random(1, 0);
  instances.append(0, random, samples);
  std::vector<int> uses(100);
  for (const Sample& sample : samples) {
    const std::vector<int32_t> ids = unmasked_ids(sample);
    for (int32_t id : ids) {
      if (id / 1000 == 1) ++uses[static_cast<size_t>(id - 1000)];
    }
  }
  for (int count : uses) EXPECT_EQ(count, 1);
}

TEST(PairInstancesTest, ALoneDocumentOfOneSentencePairsWithItself) {
  const MemoryCorpus corpus = numbered_corpus(1, 1, 4);
  const PairInstances instances(corpus, kVocabulary, {});
  std::vector<Sample> samples;
  PhiloxSource random(1, 0);
  instances.append(0, random, samples);
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(unmasked_ids(samples[0]),
            (std::vector<int32_t>{1, 1000, 1001, 1002, 1003, 2, 1000, 1001, 1002, 1003, 2}));
  EXPECT_EQ(samples[0].next_sentence_label, 1);
}

}  // namespace
}  // namespace cloze::data
