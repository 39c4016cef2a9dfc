#include "tasks/squad/answer_text.h"

#include <gtest/gtest.h>

#include "tasks/squad/squad_fixture_test.h"

namespace cloze::tasks {
namespace {

std::string aligned(std::string_view pieces, std::string_view words, bool lower_case = true) {
  const text::BasicTokenizer tokenizer({text::Profile::kGoogle, lower_case});
  const auto [begin, end] = aligned_answer(pieces, words, tokenizer);
  return std::string(words.substr(begin, end - begin));
}

TEST(AnswerTextTest, PiecesAreJoined) {
  const text::Vocabulary vocabulary = text::Vocabulary::from_tokens(
      {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##aff", "##able", "#", "!"});
  EXPECT_EQ(joined_pieces(vocabulary, std::vector<int32_t>{5, 6, 7, 9}), "unaffable !");
  EXPECT_EQ(joined_pieces(vocabulary, std::vector<int32_t>{6, 5}), "aff un");
  EXPECT_EQ(joined_pieces(vocabulary, std::vector<int32_t>{8, 8, 5}), "# # un");
}

// The examples in run_squad.py's comment: the prediction loses case and adjacent characters.
TEST(AnswerTextTest, CaseAndNeighboursComeFromTheWords) {
  EXPECT_EQ(aligned("steve smith", "Steve Smith's"), "Steve Smith");
  EXPECT_EQ(aligned("$ 5 . 5", "($5.5),"), "$5.5");
  EXPECT_EQ(aligned("中国", "在中国。"), "在中国。");  // the tokens are "中 国": no such text
  EXPECT_EQ(aligned("中 国", "在中国。"), "中国");
  EXPECT_EQ(aligned("Smith", "Steve Smith's", false), "Smith");
}

TEST(AnswerTextTest, AccentsThatKeepTheNumberOfCharacters) {
  EXPECT_EQ(aligned("cafe", "«Café»"), "Café");
  // A combining accent is an extra character beside its letter: the answer is then all of the
  // words.
  EXPECT_EQ(aligned("cafe", "(Cafe\u0301)"), "(Cafe\u0301)");
}

// The tokens lack the bytes that are not UTF-8; no byte of the answer is cut off because of them.
TEST(AnswerTextTest, BytesThatAreNoCharactersAreOneEach) {
  EXPECT_EQ(aligned("steve smith", "\x93Steve Smith\x94"), "\x93Steve Smith\x94");  // cp1252
  EXPECT_EQ(aligned("caf", "(caf\xe9)"), "(caf\xe9)");
  const std::string overlong = std::string(150, 'x') + "\x93" + std::string(150, 'x');
  EXPECT_EQ(aligned("a", overlong + "-a"), "a");
}

TEST(AnswerTextTest, WhatIsNotFoundIsAllWords) {
  EXPECT_EQ(aligned("[UNK]", "\U0001F600 b"), "\U0001F600 b");
  EXPECT_EQ(aligned("", "a b"), "a b");
  const std::string overlong(300, 'x');
  EXPECT_EQ(aligned("a", "a-" + overlong), "a");
}

}  // namespace
}  // namespace cloze::tasks
