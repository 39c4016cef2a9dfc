#include "text/python_string.h"

#include <gtest/gtest.h>

namespace cloze::text {
namespace {

// Expected values were printed by Python 3.11.
TEST(PythonStringTest, Lower) {
  EXPECT_EQ(python_lower("Ab Z1 ÀÉ ẞ"), "ab z1 àé ß");
  EXPECT_EQ(python_lower("İ"), "i\u0307");
  EXPECT_EQ(python_lower("ΟΔΥΣΣΕΥΣ ΣΑΣ. Σ"), "οδυσσευς σας. σ");
  EXPECT_EQ(python_lower("ΑΣ\u0301Β ΑΣ\u0301"), "ασ\u0301β ας\u0301");
}

TEST(PythonStringTest, Split) {
  const std::vector<std::string_view> words =
      python_split(" \ta\u00A0b\u2003c\x1C\n\xC2\x85\u3000 d\u200Be ");
  EXPECT_EQ(words, (std::vector<std::string_view>{"a", "b", "c", "d\u200Be"}));
  EXPECT_TRUE(python_split(" \n").empty());
}

TEST(PythonStringTest, SingleSpaced) {
  EXPECT_EQ(python_single_spaced(" \ta\u00A0b\u2003cc\x1C\n\xC2\x85\u3000 d\u200Be "),
            "a b cc d\u200Be");
  EXPECT_EQ(python_single_spaced(" \n"), "");
}

TEST(PythonStringTest, Words) {
  for (const char32_t c : U"aZ0_é漢²Ⅷ") {
    if (c == 0) continue;
    EXPECT_TRUE(is_python_word(c)) << static_cast<uint32_t>(c);
  }
  for (const char32_t c : U" -'\u2019\u0301€") {
    if (c == 0) continue;
    EXPECT_FALSE(is_python_word(c)) << static_cast<uint32_t>(c);
  }
}

TEST(PythonStringTest, BlankIsWhatStripLeavesNothingOf) {
  EXPECT_TRUE(is_blank(""));
  EXPECT_TRUE(is_blank(" \t\r\x1C\u00A0\u2003\u3000"));
  EXPECT_FALSE(is_blank(" x"));
  EXPECT_FALSE(is_blank("\u200B")) << "zero width space is not white space";
  EXPECT_FALSE(is_blank("\xC2"));
}

}  // namespace
}  // namespace cloze::text
