#include "text/vocabulary.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "platform/files/atomic_file.h"

namespace cloze::text {
namespace {

const std::string kSpecials = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";

class VocabularyTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  Vocabulary load(const std::string& content) const {
    platform::write_file_atomically(path_, content);
    return Vocabulary::load(path_);
  }
  std::string error_of(const std::string& content) const {
    try {
      load(content);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }
  const std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string("cloze_vocabulary_test_") +
       testing::UnitTest::GetInstance()->current_test_info()->name() + ".txt");
};

TEST_F(VocabularyTest, IdsAreLineNumbers) {
  const Vocabulary vocabulary = load(kSpecials + "the\n##s\n漢\n");
  EXPECT_EQ(vocabulary.size(), 8);
  EXPECT_EQ(vocabulary.find("the"), 5);
  EXPECT_EQ(vocabulary.find("##s"), 6);
  EXPECT_EQ(vocabulary.find("none"), std::nullopt);
  EXPECT_EQ(vocabulary.token(7), "漢");
  EXPECT_EQ(vocabulary.pad_id(), 0);
  EXPECT_EQ(vocabulary.unknown_id(), 1);
  EXPECT_EQ(vocabulary.cls_id(), 2);
  EXPECT_EQ(vocabulary.sep_id(), 3);
  EXPECT_EQ(vocabulary.mask_id(), 4);
  EXPECT_THROW(vocabulary.token(8), InternalError);
}

TEST_F(VocabularyTest, CarriageReturnsAndAMissingLastNewlineDoNotMatter) {
  const std::string text = kSpecials + "the\n##s\n";
  EXPECT_EQ(load("[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\n[MASK]\r\nthe \r\n##s").to_text(), text);
  EXPECT_EQ(load(text).to_text(), text);
  EXPECT_EQ(load(text + "\n\r\n\n").to_text(), text) << "nor do empty lines at the end";
}

TEST_F(VocabularyTest, MessagesNameTheFileAndTheLine) {
  const std::string file = path_.string();
  EXPECT_EQ(error_of(kSpecials + "a\n\nb\n"),
            file + " line 7: empty; every line of a vocabulary is one token, delete it");
  EXPECT_EQ(error_of(kSpecials + "a\nb\na\n"),
            file +
                " line 8: 'a' is already on line 6; each token must appear only once: give one of "
                "the two another name, such as [unused1]");
  EXPECT_EQ(error_of(kSpecials + "\xFFz\n"), file + " line 6: not UTF-8; is this a vocabulary?");
  EXPECT_EQ(error_of("[PAD]\n[UNK]\n[CLS]\n[SEP]\n"),
            file +
                ": [MASK] is missing among 4 tokens; a BERT vocabulary needs "
                "[PAD] [UNK] [CLS] [SEP] [MASK]");
  EXPECT_EQ(error_of(""), file + ": empty; a vocabulary has one token per line");
  EXPECT_THROW(load(""), DataError);
  EXPECT_THROW(Vocabulary::load("/nonexistent/vocab.txt"), UserError);
}

TEST_F(VocabularyTest, CasingIsGuessedFromCapitals) {
  EXPECT_TRUE(load(kSpecials + "the\n").likely_lower_cased());
  EXPECT_FALSE(load(kSpecials + "the\nThe\n").likely_lower_cased());
  EXPECT_TRUE(load(kSpecials + "<S>\n<T>\nthe\n").likely_lower_cased()) << "Google's Chinese BERT";
}

TEST_F(VocabularyTest, AByteOrderMarkIsNoPartOfTheFirstToken) {
  const Vocabulary vocabulary = load("\xEF\xBB\xBF" + kSpecials + "the\n");
  EXPECT_EQ(vocabulary.pad_id(), 0);
  EXPECT_EQ(vocabulary.to_text(), kSpecials + "the\n");
}

}  // namespace
}  // namespace cloze::text
