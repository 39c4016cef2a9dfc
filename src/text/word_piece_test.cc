#include "text/word_piece.h"

#include <gtest/gtest.h>

#include <set>

#include "base/philox.h"
#include "text/reference_tokenizer_test.h"

namespace cloze::text {
namespace {

Vocabulary make_vocabulary(std::vector<std::string> tokens) {
  tokens.insert(tokens.begin(), {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"});
  return Vocabulary::from_tokens(std::move(tokens));
}

std::string pieces_of(const Vocabulary& vocabulary, std::string_view word) {
  std::vector<int32_t> ids;
  if (!WordPiece(vocabulary).append_pieces(word, ids)) return ids.empty() ? "none" : "left behind";
  std::string joined;
  for (const int32_t id : ids) joined += (joined.empty() ? "" : " ") + vocabulary.token(id);
  return joined;
}

TEST(WordPieceTest, TakesTheLongestPieceAtEachPoint) {
  const Vocabulary vocabulary = make_vocabulary(
      {"un", "##aff", "##able", "##a", "a", "ab", "abc", "##bcd", "##d", "é", "##é"});
  EXPECT_EQ(pieces_of(vocabulary, "unaffable"), "un ##aff ##able");
  EXPECT_EQ(pieces_of(vocabulary, "abcd"), "abc ##d");
  EXPECT_EQ(pieces_of(vocabulary, "abcdd"), "abc ##d ##d");
  EXPECT_EQ(pieces_of(vocabulary, "éé"), "é ##é");
}

TEST(WordPieceTest, AWordThatCannotBeFinishedHasNoPieces) {
  const Vocabulary vocabulary = make_vocabulary({"ab", "##c", "##cde", "a", "##bce"});
  EXPECT_EQ(pieces_of(vocabulary, "abcd"), "none");
  EXPECT_EQ(pieces_of(vocabulary, "abce"), "none");  // greedy: "ab" is taken, though "a ##bce" fits
  EXPECT_EQ(pieces_of(vocabulary, "x"), "none");
  EXPECT_EQ(pieces_of(vocabulary, "c"), "none");  // only a continuation
  EXPECT_EQ(pieces_of(make_vocabulary({"##", "##a"}), "a"), "none");
}

TEST(WordPieceTest, AgreesWithTryingEveryLengthOnRandomVocabularies) {
  PhiloxStream random(7, 0);
  const std::vector<std::string> letters = {"a", "b", "c", "é", "è"};
  const auto draw_word = [&](uint32_t max_letters) {
    std::string word;
    for (uint32_t n = 1 + random.below(max_letters); n > 0; --n) word += letters[random.below(5)];
    return word;
  };
  size_t num_unknown = 0;
  for (int round = 0; round < 200; ++round) {
    std::set<std::string> tokens;
    for (uint32_t n = 1 + random.below(60); n > 0; --n) {
      tokens.insert((random.below(2) ? "##" : "") + draw_word(6));
    }
    const Vocabulary vocabulary = make_vocabulary({tokens.begin(), tokens.end()});
    const WordPiece word_piece(vocabulary);
    for (int i = 0; i < 200; ++i) {
      const std::string word = draw_word(12);
      std::vector<int32_t> ids;
      word_piece.append_pieces(word, ids);
      ASSERT_EQ(ids, reference_pieces(vocabulary, word)) << word << "\n" << vocabulary.to_text();
      num_unknown += ids.empty();
    }
  }
  EXPECT_GT(num_unknown, 1000u);
  EXPECT_LT(num_unknown, 39000u);
}

// Each tried length of "a…ab" fails at the last letter: the square of a million would take hours.
TEST(WordPieceTest, TimeIsLinearInTheLengthOfTheWord) {
  std::vector<std::string> tokens;
  for (size_t length = 1; length <= 100; ++length) {
    tokens.push_back(std::string(length, 'a'));
    tokens.push_back("##" + std::string(length, 'a'));
  }
  tokens.push_back("##" + std::string(100, 'a') + "b");
  const WordPiece word_piece(make_vocabulary(tokens));
  std::vector<int32_t> ids;
  EXPECT_TRUE(word_piece.append_pieces(std::string(1'000'000, 'a'), ids));
  EXPECT_EQ(ids.size(), 10'000u);
  EXPECT_FALSE(word_piece.append_pieces(std::string(1'000'000, 'a') + "c", ids));
  EXPECT_EQ(ids.size(), 10'000u);
}

}  // namespace
}  // namespace cloze::text
