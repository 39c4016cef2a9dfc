#include "data/instances/text_windows.h"

#include <gtest/gtest.h>

#include "data/corpus/array_corpus.h"

namespace cloze::data {
namespace {

// One document, whose sentences have these lengths.
void append_document(MemoryCorpus& corpus, const std::vector<int64_t>& sentences) {
  for (const int64_t sentence : sentences) {
    corpus.append_sentence(std::vector<int32_t>(static_cast<size_t>(sentence), 7));
  }
  corpus.end_document();
}

// Sentences of 1 to `longest` tokens, `tokens` in all.
std::vector<int64_t> drawn_sentences(int64_t tokens, int64_t longest, PhiloxSource& random) {
  std::vector<int64_t> sentences;
  while (tokens > 0) {
    sentences.push_back(std::min(tokens, random.between(1, longest)));
    tokens -= sentences.back();
  }
  return sentences;
}

TEST(TextWindowsTest, WindowsOfEveryLengthTileDocumentsOfEveryLength) {
  PhiloxSource random(1, 2);
  for (const int64_t longest : {2, 3, 5, 8, 29, 125}) {
    MemoryCorpus corpus(100);
    for (int64_t tokens = 1; tokens <= 6 * longest; ++tokens) {
      append_document(corpus, drawn_sentences(tokens, random.between(1, 2 * longest), random));
    }
    const TextWindows windows(corpus, longest, 3);
    for (int64_t epoch = 0; epoch < 4; ++epoch) {
      TextWindow last{.document = -1};
      int64_t tokens = 0;
      for (int64_t i = 0; i < windows.size(); ++i) {
        const TextWindow window = windows.window(i, epoch);
        ASSERT_EQ(window.document, window.begin == 0 ? last.document + 1 : last.document);
        ASSERT_EQ(window.begin, window.begin == 0 ? 0 : last.end);
        ASSERT_GE(window.size(), longest >= 8 && corpus.tokens_in(window.document) > 1 ? 2 : 1);
        ASSERT_LE(window.size(), longest);
        tokens += window.size();
        last = window;
      }
      ASSERT_EQ(tokens, corpus.tokens()) << longest;
    }
  }
}

TEST(TextWindowsTest, ADocumentThatFitsIsOneWindow) {
  MemoryCorpus corpus(100);
  append_document(corpus, {60, 65});
  append_document(corpus, {60, 66});
  const TextWindows windows(corpus, 125, 3);
  EXPECT_EQ(windows.window(0, 0).size(), 125);
  EXPECT_EQ(windows.size(), 3);
}

TEST(TextWindowsTest, WindowsBeginAtSentencesWhereTheyCan) {
  MemoryCorpus corpus(100);
  append_document(corpus, std::vector<int64_t>(1000, 10));
  const TextWindows windows(corpus, 125, 3);  // looks back 15 tokens
  for (int64_t i = 0; i < windows.size(); ++i) EXPECT_EQ(windows.window(i, 0).begin % 10, 0) << i;
}

TEST(TextWindowsTest, WindowsInsideALongSentenceBeginElsewhereInEachEpoch) {
  MemoryCorpus corpus(100);
  append_document(corpus, {100'000});
  const TextWindows windows(corpus, 125, 3);
  EXPECT_EQ(windows.size(), 1 + (100'000 - 93 + 109) / 110);
  int64_t same = 0;
  for (int64_t i = 1; i < windows.size(); ++i) {
    same += windows.window(i, 0).begin == windows.window(i, 1).begin ? 1 : 0;
  }
  EXPECT_LT(same, windows.size() / 8);
}

TEST(TextWindowsTest, BordersAreWhereSentencesBegin) {
  MemoryCorpus corpus(100);
  append_document(corpus, {4, 3, 5});
  const TextWindows windows(corpus, 125, 3);
  using Borders = std::vector<int64_t>;
  EXPECT_EQ(windows.borders({0, 0, 12}), (Borders{4, 7}));
  EXPECT_EQ(windows.borders({0, 4, 12}), (Borders{3})) << "its own beginning is none";
  EXPECT_EQ(windows.borders({0, 2, 7}), (Borders{2}));
  EXPECT_EQ(windows.borders({0, 8, 11}), (Borders{1, 2})) << "inside a sentence: any token";
  EXPECT_EQ(windows.borders({0, 8, 9}), (Borders{}));
  EXPECT_TRUE(windows.holds_sentence_border({0, 2, 7}));
  EXPECT_FALSE(windows.holds_sentence_border({0, 4, 7}));
}

TEST(TextWindowsTest, ShortenedWindowsAreTheTwoPartsOfOneCut) {
  MemoryCorpus corpus(100);
  append_document(corpus, {4, 3, 5});
  const TextWindows windows(corpus, 125, 3);
  for (const double share : {0.0, 0.3, 0.6, 0.999}) {
    const TextWindow whole{0, 2, 12};
    const TextWindow front = windows.shortened(whole, share, true);
    const TextWindow back = windows.shortened(whole, share, false);
    EXPECT_EQ(front.begin, 2);
    EXPECT_EQ(front.end, back.begin);
    EXPECT_EQ(back.end, 12);
    EXPECT_GE(front.size(), 2);
    EXPECT_GE(back.size(), 2);
  }
  EXPECT_EQ(windows.shortened({0, 2, 12}, 0.6, false).begin, 7) << "where a sentence begins";
  EXPECT_EQ(windows.shortened({0, 2, 5}, 0.6, false).size(), 3) << "too short";
}

}  // namespace
}  // namespace cloze::data
