#include "data/corpus/array_corpus.h"

#include <gtest/gtest.h>

namespace cloze::data {
namespace {

using Ids = std::vector<int32_t>;

TEST(MemoryCorpusTest, KeepsSentencesAndDocumentsApart) {
  for (int64_t vocabulary_size : {int64_t{1} << 16, int64_t{100'000}}) {
    const int32_t largest = static_cast<int32_t>(vocabulary_size - 1);
    MemoryCorpus corpus(vocabulary_size);
    corpus.append_sentence(Ids{1, 2, 3});
    corpus.append_sentence(Ids{largest});
    corpus.end_document();
    corpus.append_sentence(Ids{4, 5});
    corpus.end_document();
    EXPECT_EQ(corpus.documents(), 2);
    EXPECT_EQ(corpus.sentences(), 3);
    EXPECT_EQ(corpus.tokens(), 6);
    EXPECT_EQ(corpus.sentences_in(0), 2);
    EXPECT_EQ(corpus.tokens_in(0), 4);
    EXPECT_EQ(corpus.tokens_before(0, 1), 3);
    Ids ids{9};
    corpus.append_ids(0, 1, 2, ids);
    corpus.append_ids(1, 0, 1, ids);
    EXPECT_EQ(ids, (Ids{9, largest, 4, 5}));
    corpus.append_tokens(0, 1, 4, ids);
    EXPECT_EQ(ids, (Ids{9, largest, 4, 5, 2, 3, largest}));
    EXPECT_EQ(corpus.sentence_at(0, 0), 0);
    EXPECT_EQ(corpus.sentence_at(0, 2), 0);
    EXPECT_EQ(corpus.sentence_at(0, 3), 1);
  }
}

TEST(MemoryCorpusTest, EmptySentencesAndDocumentsLeaveNoTrace) {
  MemoryCorpus corpus(100);
  corpus.end_document();
  corpus.append_sentence({});
  corpus.end_document();
  EXPECT_EQ(corpus.documents(), 0);
  corpus.append_sentence(Ids{1});
  EXPECT_EQ(corpus.documents(), 0) << "a document counts once it has ended";
  corpus.end_document();
  corpus.end_document();
  EXPECT_EQ(corpus.documents(), 1);
}

}  // namespace
}  // namespace cloze::data
