#include "text/word_borders.h"

#include <gtest/gtest.h>

#include <string>

namespace cloze::text {
namespace {

// What becomes of the part in angle brackets: "the prom<is>e" → "promise".
std::string widened(std::string marked) {
  const auto begin = static_cast<uint32_t>(marked.find('<'));
  marked.erase(begin, 1);
  const auto end = static_cast<uint32_t>(marked.find('>'));
  marked.erase(end, 1);
  const Offset part = widened_to_words(marked, {begin, end});
  return marked.substr(part.begin, part.end - part.begin);
}

TEST(WordBorders, AreReachedOnBothSides) {
  EXPECT_EQ(widened("the pro<mis>es of"), "promises");
  EXPECT_EQ(widened("<pro>mises"), "promises");
  EXPECT_EQ(widened("promi<ses>"), "promises");
  EXPECT_EQ(widened("of t<he Du>ke, who"), "the Duke");
  EXPECT_EQ(widened("in <1848>."), "1848");
  EXPECT_EQ(widened("a<b2>c3"), "ab2c3");
}

TEST(WordBorders, StopAtPunctuationAndSpaces) {
  EXPECT_EQ(widened("(<Or>la)"), "Orla");
  EXPECT_EQ(widened("<John>'s well-<kno>wn").substr(0, 4), "John");
  EXPECT_EQ(widened("well-<kno>wn"), "known");
  EXPECT_EQ(widened("end.<Ne>xt"), "Next");
  EXPECT_EQ(widened("a\u00A0<b>c\u3000d"), "bc");
}

TEST(WordBorders, KeepNumbersWhole) {
  EXPECT_EQ(widened("about <1>,250,000 of"), "1,250,000");
  EXPECT_EQ(widened("about 1,<250>,000."), "1,250,000");
  EXPECT_EQ(widened("3.<5> m"), "3.5");
  EXPECT_EQ(widened("3,<.>5"), ".");
  EXPECT_EQ(widened("in 1,<x>"), "x");
}

TEST(WordBorders, OfEveryAlphabet) {
  EXPECT_EQ(widened("столица <Рос>сии —"), "России");
  EXPECT_EQ(widened("पटना <बिहा>र की"), "बिहार");
  EXPECT_EQ(widened("a <cafe>\u0301s"), "cafe\u0301s");
  EXPECT_EQ(widened("مدينة <القا>هرة."), "القاهرة");
}

// A border may be anywhere but in front of a mark.
TEST(WordBorders, StayWhereAScriptHasNoSpaces) {
  EXPECT_EQ(widened("กรุง<เทพ>มหานคร"), "เทพ");
  EXPECT_EQ(widened("ก<ร>ุงเทพ"), "รุ");
  EXPECT_EQ(widened("東<京>タワー"), "京");
  EXPECT_EQ(widened("とうきょう<たわー>です"), "たわー");
  EXPECT_EQ(widened("<서울>은"), "서울");
  EXPECT_EQ(widened("<ភ្នំ>ពេញ"), "ភ្នំ");
}

TEST(WordBorders, OfATextThatIsNotUtf8) {
  EXPECT_EQ(widened("a\xe9<b>c \x94"), "bc");
  EXPECT_EQ(widened("<\xe9>b"), "\xe9");
}

}  // namespace
}  // namespace cloze::text
