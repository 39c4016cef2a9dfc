#include "text/vocabulary_trainer.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "text/utf8.h"

namespace cloze::text {
namespace {

Vocabulary train(std::string_view text, VocabularyTrainerOptions options) {
  VocabularyTrainer trainer(options);
  trainer.add_text(text);
  return trainer.train().vocabulary;
}

TEST(VocabularyTrainerTest, SpecialsAlphabetContinuationsMerges) {
  const Vocabulary vocabulary = train("ab ab AB abc c! c", {.size = 100});
  EXPECT_EQ(vocabulary.to_text(), "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n!\na\nb\nc\n##b\n##c\nab\n");
  EXPECT_EQ(vocabulary.pad_id(), 0);
}

TEST(VocabularyTrainerTest, OptionsAreKept) {
  const std::string_view text = "ab ab ab abc abc é éa x";
  EXPECT_EQ(train(text, {.size = 13}).size(), 13);
  EXPECT_TRUE(train(text, {.size = 100}).find("abc"));
  EXPECT_FALSE(train(text, {.size = 100, .min_frequency = 3}).find("abc"));
  EXPECT_TRUE(train(text, {.size = 100}).find("e"));
  EXPECT_TRUE(train(text, {.tokenizer = {.lower_case = false}, .size = 100}).find("é"));
  const Vocabulary narrow = train(text, {.size = 100, .character_coverage = 0.6});
  EXPECT_TRUE(narrow.find("a") && narrow.find("b"));
  EXPECT_FALSE(narrow.find("c") || narrow.find("x"));
}

TEST(VocabularyTrainerTest, OrderAndGroupingOfTheTextDoNotMatter) {
  VocabularyTrainer trainer({.size = 60});
  std::string forwards;
  for (int i = 0; i < 300; ++i) {
    const std::string line = fmt::format("{:b} {:o} word{}\n", i, i * 7, i % 17);
    forwards += line;
  }
  for (int i = 299; i >= 0; --i)
    trainer.add_text(fmt::format("{:b} {:o} word{}", i, i * 7, i % 17));
  EXPECT_EQ(trainer.train().vocabulary.to_text(), train(forwards, {.size = 60}).to_text());
  EXPECT_EQ(trainer.num_words(), 900);
}

// Writing systems of thousands of characters are kept as well as those of thirty.
TEST(VocabularyTrainerTest, TheAlphabetFollowsCoverage) {
  std::string text;
  for (char32_t c = 0x4E00; c < 0x4E00 + 3000; ++c) {
    for (int i = 0; i < 3; ++i) append_utf8(c, text);
  }
  text += " ☃ ☂☂ ";
  VocabularyTrainer trainer({.size = 4000});
  trainer.add_text(text);
  const TrainedVocabulary trained = trainer.train();
  EXPECT_TRUE(trained.vocabulary.find("一") && trained.vocabulary.find("亻"));
  ASSERT_EQ(trained.left_out.size(), 2u);
  EXPECT_EQ(trained.left_out[0].text, "☂");
  EXPECT_EQ(trained.left_out[0].count, 2);
  EXPECT_EQ(trained.unknown_words, 2) << "words, not characters";
  EXPECT_EQ(trainer.num_words(), 9002);
}

TEST(VocabularyTrainerTest, CountsOfSeveralTrainersAdd) {
  const std::string long_word(101, 'x');
  const VocabularyTrainerOptions options{.size = 60};
  VocabularyTrainer whole(options), sum(options);
  for (int part = 0; part < 5; ++part) {
    VocabularyTrainer trainer(options);
    for (int i = part; i < 300; i += 5) {
      const std::string line = fmt::format("{:b} {:o} w{} \xFF {}", i, i * 7, i % 17, long_word);
      whole.add_text(line);
      trainer.add_text(line);
    }
    sum.add_counts(trainer);
  }
  EXPECT_EQ(sum.train().vocabulary.to_text(), whole.train().vocabulary.to_text());
  EXPECT_EQ(sum.num_words(), whole.num_words());
  EXPECT_EQ(sum.num_distinct_words(), whole.num_distinct_words());
  EXPECT_EQ(sum.num_overlong(), 300);
  EXPECT_EQ(sum.num_invalid(), 300u);
}

TEST(VocabularyTrainerTest, TheResultSpellsItsOwnText) {
  const std::string_view text = "the quick brown fox jumps over the lazy dog, the quicker fox.";
  const Tokenizer tokenizer(train(text, {.size = 80}), {});
  std::vector<int32_t> ids;
  tokenizer.append_ids(text, ids);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), tokenizer.vocabulary().unknown_id()), 0);
  EXPECT_TRUE(tokenizer.vocabulary().find("quick"));
}

std::string error_of(std::string_view text, VocabularyTrainerOptions options) {
  try {
    train(text, options);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(VocabularyTrainerTest, MessagesSayWhatToDo) {
  EXPECT_EQ(error_of(" \n", {}), "no words in the input: a vocabulary needs some text");
  EXPECT_EQ(error_of("abc", {.size = 9}),
            "vocabulary size 9: the special tokens and the alphabet alone are 10; take a larger "
            "size or a smaller character coverage (now 0.9995)");
  EXPECT_EQ(error_of("abc", {.size = 0}),
            "vocabulary size 0, min frequency 2: each must be at least 1");
  EXPECT_EQ(error_of("abc", {.character_coverage = 0}),
            "character coverage 0: it must be above 0, and at most 1");
}

}  // namespace
}  // namespace cloze::text
