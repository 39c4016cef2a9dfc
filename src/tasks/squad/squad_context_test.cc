#include "tasks/squad/squad_context.h"

#include <gtest/gtest.h>

#include "tasks/squad/squad_fixture_test.h"

namespace cloze::tasks {
namespace {

const text::Tokenizer& tokenizer() {
  static const text::Tokenizer tokenizer = letter_tokenizer();
  return tokenizer;
}

std::vector<std::string> words_of(const std::string& text) {
  const SquadContext context = tokenized_context(text, tokenizer(), SquadStyle::kGoogle);
  std::vector<std::string> words;
  for (const auto [begin, end] : context.words) words.push_back(text.substr(begin, end - begin));
  return words;
}

PlacedAnswer by_words(const std::string& text, const SquadAnswer& answer) {
  const SquadContext context = tokenized_context(text, tokenizer(), SquadStyle::kGoogle);
  return placed_by_words(text, context, answer, tokenizer());
}

PlacedAnswer by_offsets(const std::string& text, const SquadAnswer& answer) {
  const SquadContext context = tokenized_context(text, tokenizer(), SquadStyle::kHuggingFace);
  return placed_by_offsets(text, context, answer);
}

TEST(SquadContextTest, FiveCharactersPartWords) {
  EXPECT_EQ(words_of(" a\tb\r\nc\u202Fd\u00A0e f "),
            (std::vector<std::string>{"a", "b", "c", "d\u00A0e", "f"}));
  EXPECT_TRUE(words_of(" \n").empty());
}

TEST(SquadContextTest, TokensKnowTheirWord) {
  const SquadContext context = tokenized_context("ab  (c) 中国d", tokenizer(), SquadStyle::kGoogle);
  EXPECT_EQ(context.token_words, (std::vector<uint32_t>{0, 0, 1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(context.offsets[3], (text::Offset{5, 6}));
  EXPECT_EQ(context.offsets[6], (text::Offset{11, 14}));
  EXPECT_EQ(joined_words("ab  (c) 中国d", context, 0, 1), "ab (c)");
}

// Tokens: a ( b c - d ) e; the answer "c" is in the word "(bc-d)".
TEST(SquadContextTest, WordsShrinkToTheAnswersTokens) {
  EXPECT_EQ(by_words("a (b c-d) e", {.text = "c", .start = 5}).tokens, (TokenSpan{3, 3}));
  EXPECT_EQ(by_words("a (b c-d) e", {.text = "b c", .start = 3}).tokens, (TokenSpan{2, 3}));
  // "b" is no token of its own in "ab": the whole word stays.
  EXPECT_EQ(by_words("ab c", {.text = "b", .start = 1}).tokens, (TokenSpan{0, 1}));
  // The first equal tokens, wherever the answer stood in its words.
  EXPECT_EQ(by_words("c-c a", {.text = "c", .start = 2}).tokens, (TokenSpan{0, 0}));
}

TEST(SquadContextTest, PlacesAreCodePoints) {
  EXPECT_EQ(by_words("é 中国 a", {.text = "国", .start = 3}).tokens, (TokenSpan{2, 2}));
  EXPECT_EQ(by_offsets("é 中国 a", {.text = "国", .start = 3}).tokens, (TokenSpan{2, 2}));
  EXPECT_EQ(by_offsets("é 中国 a", {.text = "a", .start = 5}).tokens, (TokenSpan{3, 3}));
}

TEST(SquadContextTest, WhiteSpaceInAnswersDoesNotMatter) {
  const PlacedAnswer placed = by_words("a  b\nc d", {.text = "b\nc", .start = 3});
  EXPECT_FALSE(placed.is_misplaced);
  EXPECT_EQ(placed.tokens, (TokenSpan{1, 2}));
}

TEST(SquadContextTest, AnswersElsewhereAreMisplaced) {
  for (const SquadAnswer& answer : {SquadAnswer{.text = "c", .start = 0},
                                    {.text = "b", .start = 9},
                                    {.text = "b", .start = -1},
                                    {.text = "b c", .start = 2},
                                    {.text = "", .start = 0}}) {
    EXPECT_TRUE(by_words("a b", answer).is_misplaced) << answer.text;
    EXPECT_FALSE(by_words("a b", answer).tokens) << answer.text;
    EXPECT_TRUE(by_offsets("a b", answer).is_misplaced) << answer.text;
  }
  EXPECT_TRUE(by_words(" a", {.text = "a", .start = 0}).is_misplaced);  // in front of all words
}

TEST(SquadContextTest, OffsetsTakeTheTokensAroundTheCharacters) {
  EXPECT_EQ(by_offsets("abc d", {.text = "b", .start = 1}).tokens, (TokenSpan{1, 1}));
  EXPECT_EQ(by_offsets("a b", {.text = " b", .start = 1}).tokens, (TokenSpan{0, 1}));
  EXPECT_TRUE(by_offsets("a b", {.text = "x", .start = 2}).is_misplaced);
  EXPECT_EQ(by_offsets("a b", {.text = "x", .start = 2}).tokens, (TokenSpan{1, 1}));
}

TEST(SquadContextTest, CharactersOfSeveralTokens) {
  const text::Tokenizer korean(text::Vocabulary::from_tokens({"[PAD]", "[UNK]", "[CLS]", "[SEP]",
                                                              "[MASK]", "a", "\u1100", "##\u1161"}),
                               {});
  const std::string text = "a 가 a";
  const SquadContext context = tokenized_context(text, korean, SquadStyle::kHuggingFace);
  ASSERT_EQ(context.ids, (std::vector<int32_t>{5, 6, 7, 5}));
  const PlacedAnswer placed = placed_by_offsets(text, context, {.text = "가", .start = 2});
  EXPECT_EQ(placed.tokens, (TokenSpan{1, 2}));
}

}  // namespace
}  // namespace cloze::tasks
