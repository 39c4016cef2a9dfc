#include "data/corpus/stored_corpus.h"

#include <gtest/gtest.h>

#include "data/corpus/described_corpus_test.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

// The three files of a corpus.
struct Files {
  explicit Files(const fs::path& folder)
      : ids(folder / "ids"), sentences(folder / "sentences"), documents(folder / "documents") {}
  CorpusFiles files() { return {ids, sentences, documents}; }

  platform::PartialFile ids;
  platform::PartialFile sentences;
  platform::PartialFile documents;
};

class StoredCorpusTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  const fs::path folder_ = fs::path(testing::TempDir()) /
                           (std::string("cloze_stored_corpus_test_") +
                            testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(StoredCorpusTest, HoldsSentencesAndDocumentsOfNarrowAndWideIds) {
  for (const int32_t large : {65'535, 70'000}) {
    Files stored(folder_);
    StoredCorpusWriter writer(stored.files(), large + 1);
    writer.end_document();
    writer.append_sentence(std::vector<int32_t>{5, large});
    writer.append_sentence({});
    writer.append_sentence(std::vector<int32_t>{7});
    writer.end_document();
    writer.end_document();
    writer.append_sentence(std::vector<int32_t>{8});
    writer.end_document();
    EXPECT_EQ(writer.documents(), 2);
    const StoredCorpus corpus(stored.files(), large + 1);
    EXPECT_EQ(described(corpus), "5" + std::to_string(large) + "/7/|8/|");
    EXPECT_EQ(corpus.sentences(), 3);
    EXPECT_EQ(corpus.tokens(), 4);
    EXPECT_EQ(corpus.arrays().bytes_per_id, large < 65'536 ? 2 : 4);
    for (auto* file : {&stored.ids, &stored.sentences, &stored.documents}) file->remove();
  }
}

TEST_F(StoredCorpusTest, GoesOnInTheMiddleOfADocument) {
  Files stored(folder_);
  {
    StoredCorpusWriter writer(stored.files(), 100);
    writer.append_sentence(std::vector<int32_t>{5});
    writer.end_document();
    writer.append_sentence(std::vector<int32_t>{6, 7});
  }
  StoredCorpusWriter writer(stored.files(), 100);
  EXPECT_EQ(writer.documents(), 1);
  writer.append_sentence(std::vector<int32_t>{8});
  writer.end_document();
  EXPECT_EQ(described(StoredCorpus(stored.files(), 100)), "5/|67/8/|");
  EXPECT_EQ(writer.documents(), 2);
}

}  // namespace
}  // namespace cloze::data
