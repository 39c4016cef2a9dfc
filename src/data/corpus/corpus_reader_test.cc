#include "data/corpus/corpus_reader.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "data/corpus/array_corpus.h"
#include "data/corpus/described_corpus_test.h"
#include "platform/files/atomic_file.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

class CorpusReaderTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string("cloze_corpus_reader_") +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) {
    platform::write_file_atomically(folder_ / name, text);
    return folder_ / name;
  }
  struct Read {
    MemoryCorpus corpus;
    int64_t invalid_utf8 = 0;
  };
  Read read(const CorpusOptions& options) {
    CreationProgress progress;
    CorpusReader reader(options, tokenizer_, progress);
    Read result{.corpus = MemoryCorpus(tokenizer_.vocabulary().size())};
    while (reader.read_round(result.corpus)) continue;
    result.invalid_utf8 = reader.position().invalid_utf8;
    EXPECT_EQ(progress.text_bytes, progress.total_text_bytes);
    return result;
  }

  fs::path folder_;
  const text::Tokenizer tokenizer_{
      text::Vocabulary::from_tokens({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "c"}),
      {}};
};

TEST_F(CorpusReaderTest, FilesEndDocumentsUnlessTheyRunOn) {
  const std::vector<fs::path> files{write("1", "a b\n\nc\n"), write("2", "b\nA\n\n\n"),
                                    write("3", ""), write("4", "c")};
  EXPECT_EQ(described(read({.files = files}).corpus), "56/|7/|6/5/|7/|");
  EXPECT_EQ(described(read({.files = files, .documents_cross_files = true}).corpus),
            "56/|7/6/5/|7/|");
}

TEST_F(CorpusReaderTest, AnyNumberOfThreadsGivesTheSameCorpus) {
  std::string text;
  for (int i = 0; i < 200'000; ++i)
    text += i % 50 == 0 ? "\n" : i % 7 == 0 ? "a b c\n" : "b \xFF\n";
  const std::vector<fs::path> files{write("1", text), write("2", text)};
  const Read one = read({.files = files, .max_invalid_percent = 100, .threads = 1});
  EXPECT_EQ(one.corpus.documents(), 2 * 4000);
  EXPECT_GT(one.invalid_utf8, 300'000);
  for (int threads : {2, 5}) {
    const Read several = read({.files = files, .max_invalid_percent = 100, .threads = threads});
    EXPECT_EQ(described(several.corpus), described(one.corpus));
    EXPECT_EQ(several.invalid_utf8, one.invalid_utf8);
  }
}

TEST_F(CorpusReaderTest, BadTextIsNamedWithItsPlace) {
  const std::vector<fs::path> files{write("1", "{\"text\": \"a\"}\n"),
                                    write("2", "{\"text\": \"b\"}\n\n{\"text\": 5}\n")};
  try {
    read({.files = files, .form = {.format = TextFormat::kJsonLines}, .threads = 2});
    FAIL();
  } catch (const DataError& error) {
    EXPECT_EQ(error.what(), files[1].string() +
                                ":3:1: \"text\" is not a text, but of the type number; "
                                "--skip-bad-lines leaves such lines out");
  }
}

// What is refused has taught nothing, and says nothing of it.
TEST_F(CorpusReaderTest, TextIsExaminedBeforeItsAbbreviationsAreLearned) {
  std::string german = "Der Abt. C a. Ab a b, Abt. D ab. Ab b.\n";
  for (int i = 0; i < 5; ++i) german += german;
  CreationProgress progress;
  std::string notices;
  progress.notice = [&](const std::string& notice) { notices += notice; };
  CorpusOptions options{.files = {write("1", german)}, .form = {.format = TextFormat::kParagraphs}};
  CorpusReader(options, tokenizer_, progress);
  EXPECT_EQ(notices, "1 abbreviation learned from the text: abt");
  notices.clear();
  options.examine = [](const auto&) { throw_user_error("refused"); };
  EXPECT_THROW(CorpusReader(options, tokenizer_, progress), UserError);
  EXPECT_EQ(notices, "");
}

TEST_F(CorpusReaderTest, AMissingFileIsAUserErrorAndAnEmptyOneHasNoDocument) {
  EXPECT_EQ(read({.files = {write("1", "\n \n"), write("2", "")}}).corpus.documents(), 0);
  EXPECT_THROW(read({.files = {folder_ / "missing"}}), UserError);
}

TEST_F(CorpusReaderTest, TheDigestIsOfTheContentOfEachFile) {
  const auto digest = [&](const std::vector<fs::path>& files) {
    CreationProgress progress;
    return CorpusReader({.files = files}, tokenizer_, progress).text_digest();
  };
  const std::string one = digest({write("1", "a b\n"), write("2", "c\n")});
  EXPECT_EQ(digest({write("3", "a b\n"), write("4", "c\n")}), one);
  EXPECT_NE(digest({write("5", "a b\nc\n")}), one);
  EXPECT_NE(digest({write("6", "a b\nc\n"), write("7", "")}), one);
  EXPECT_NE(digest({write("2", "c\n"), write("1", "a b\n")}), one);
}

}  // namespace
}  // namespace cloze::data
