#include "data/instances/window_instances.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <numeric>

#include "data/corpus/array_corpus.h"
#include "data/id_count.h"

namespace cloze::data {
namespace {

using Ids = std::vector<int32_t>;
const VocabularyIds kVocabulary{.cls = 1, .sep = 2, .mask = 3, .size = 200'000};
constexpr int32_t kFirstToken = 1000;
constexpr uint64_t kSeed = 5;

// Every token of the corpus has a different id, from kFirstToken on.
MemoryCorpus numbered_corpus(int64_t documents, int64_t sentences, int64_t words) {
  MemoryCorpus corpus(kVocabulary.size);
  int32_t id = kFirstToken;
  for (int64_t d = 0; d < documents; ++d) {
    for (int64_t s = 0; s < sentences; ++s, id += static_cast<int32_t>(words)) {
      Ids ids(static_cast<size_t>(words));
      std::iota(ids.begin(), ids.end(), id);
      corpus.append_sentence(ids);
    }
    corpus.end_document();
  }
  return corpus;
}

// Counts what is read of a corpus.
class CountingCorpus final : public Corpus {
 public:
  explicit CountingCorpus(const Corpus& corpus) : corpus_(corpus) {}
  int64_t documents() const override { return corpus_.documents(); }
  int64_t sentences_in(int64_t document) const override { return corpus_.sentences_in(document); }
  int64_t tokens_in(int64_t document) const override { return corpus_.tokens_in(document); }
  int64_t tokens_before(int64_t document, int64_t sentence) const override {
    ++lookups;
    return corpus_.tokens_before(document, sentence);
  }
  void append_tokens(int64_t document, int64_t begin, int64_t end, Ids& ids) const override {
    tokens += end - begin;
    corpus_.append_tokens(document, begin, end, ids);
  }

  mutable std::atomic<int64_t> lookups{0};
  mutable std::atomic<int64_t> tokens{0};

 private:
  const Corpus& corpus_;
};

// The parts of a pair, as they were before masking.
std::pair<Ids, Ids> parts_of(const Sample& sample) {
  const Ids ids = unmasked_ids(sample);
  const auto border = std::find(ids.begin(), ids.end(), kVocabulary.sep);
  return {{ids.begin() + 1, border}, {border + 1, ids.end() - 1}};
}

// The work of a sample is bounded by its own length, whatever the length of the sentences.
TEST(WindowInstancesTest, ASampleReadsItsOwnTokensOnly) {
  for (const int64_t words : {20, 1000, 100'000, 10'000'000}) {
    MemoryCorpus corpus(30'000);
    const int64_t sentences = 10'000'000 / words;
    for (int64_t s = 0; s < sentences; ++s) {
      corpus.append_sentence(Ids(static_cast<size_t>(words), kFirstToken));
    }
    corpus.end_document();
    const CountingCorpus counting(corpus);
    const WindowInstances instances(counting, kVocabulary, {}, kSeed);
    for (int64_t i = 0; i < instances.size(); i += instances.size() / 50) {
      counting.lookups = counting.tokens = 0;
      const Sample sample = instances.instance(i, 0);
      EXPECT_EQ(counting.tokens, std::ssize(sample.input_ids) - 3);
      // Five searches in each of two windows, and the sentences that begin inside them.
      const int64_t search = std::bit_width(static_cast<uint64_t>(sentences)) + 1;
      EXPECT_LE(counting.lookups, 2 * (5 * search + 125 / words + 1)) << words;
    }
  }
}

TEST(WindowInstancesTest, LabelSaysWhetherTheSecondPartFollows) {
  const MemoryCorpus corpus = numbered_corpus(200, 30, 9);
  const WindowInstances instances(corpus, kVocabulary, {}, kSeed);
  int64_t random_next = 0;
  int64_t inside_a_sentence = 0;
  for (int64_t i = 0; i < instances.size(); ++i) {
    const Sample sample = instances.instance(i, 1);
    const auto [first, second] = parts_of(sample);
    ASSERT_FALSE(first.empty());
    ASSERT_FALSE(second.empty());
    EXPECT_EQ(sample.next_sentence_label, first.back() + 1 == second.front() ? 0 : 1);
    inside_a_sentence += (second.front() - kFirstToken) % 9 == 0 ? 0 : 1;
    random_next += sample.next_sentence_label;
  }
  EXPECT_LT(inside_a_sentence, instances.size() / 20) << "of windows within a sentence";
  // Two sequences share a flip of a coin; few find no borders that fit.
  const auto samples = static_cast<double>(instances.size());
  EXPECT_NEAR(static_cast<double>(random_next) / samples, 0.5, 0.02 + 4 * std::sqrt(0.5 / samples));
}

// Sequences of both labels have the same lengths.
TEST(WindowInstancesTest, LengthDoesNotTellTheLabel) {
  for (const int64_t words : {9, 3000}) {
    const MemoryCorpus corpus = numbered_corpus(40, 3000 / words, words);
    const WindowInstances instances(corpus, kVocabulary, {.short_sequence_probability = 0}, kSeed);
    std::array<double, 2> sum{}, count{};
    for (int64_t epoch = 0; epoch < 20; ++epoch) {
      for (int64_t i = 0; i < instances.size(); ++i) {
        const Sample sample = instances.instance(i, epoch);
        const auto label = static_cast<size_t>(sample.next_sentence_label);
        sum[label] += static_cast<double>(sample.input_ids.size());
        count[label] += 1;
      }
    }
    EXPECT_NEAR(sum[0] / count[0], sum[1] / count[1], 1.0) << words;
  }
}

TEST(WindowInstancesTest, OrderSwapsTheParts) {
  const MemoryCorpus corpus = numbered_corpus(50, 30, 9);
  const WindowInstances instances(corpus, kVocabulary, {.next_sentence = NextSentence::kOrder},
                                  kSeed);
  for (int64_t i = 0; i < instances.size(); ++i) {
    const Sample sample = instances.instance(i, 0);
    const auto [first, second] = parts_of(sample);
    EXPECT_EQ(sample.next_sentence_label, first.back() + 1 == second.front() ? 0 : 1);
    if (sample.next_sentence_label == 1) {
      EXPECT_EQ(second.back() + 1, first.front());
    }
  }
}

TEST(WindowInstancesTest, ADocumentOfOneTokenIsOnePartWithoutALabel) {
  const MemoryCorpus corpus = numbered_corpus(1, 1, 1);
  const WindowInstances instances(corpus, kVocabulary, {}, kSeed);
  const Sample sample = instances.instance(0, 0);
  EXPECT_EQ(unmasked_ids(sample), (Ids{1, kFirstToken, 2}));
  EXPECT_EQ(sample.next_sentence_label, -1);
}

TEST(WindowInstancesTest, PairsInsideASentenceAreCounted) {
  const MemoryCorpus sentences = numbered_corpus(100, 30, 9), lines = numbered_corpus(100, 1, 500);
  const auto share = [](const MemoryCorpus& corpus, NextSentence next_sentence) {
    return WindowInstances(corpus, kVocabulary, {.next_sentence = next_sentence}, kSeed)
        .pairs_inside_a_sentence();
  };
  EXPECT_LT(share(sentences, NextSentence::kRandom), 0.05);
  EXPECT_EQ(share(lines, NextSentence::kRandom), 1.0);
  EXPECT_EQ(share(lines, NextSentence::kNone), 0.0);
}

}  // namespace
}  // namespace cloze::data
