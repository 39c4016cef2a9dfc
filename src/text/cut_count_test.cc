#include "text/cut_count.h"

#include <gtest/gtest.h>

#include <string>

namespace cloze::text {
namespace {

Tokenizer tokenizer(std::vector<std::string> tokens, TokenizerOptions rules = {}) {
  tokens.insert(tokens.begin(), {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"});
  return {Vocabulary::from_tokens(std::move(tokens)), rules};
}

TEST(CutCountTest, CausesAreCharactersElseWords) {
  const Tokenizer cut = tokenizer({"a", "##b", "c", ".", "x", "##x"});
  CutCount count(cut);
  count.add("A ab 北 c北c ac. 北 ac");
  count.add(std::string(101, 'x'));
  EXPECT_EQ(count.tokens(), 4 + 3 + 4 + 1) << "a a ##b ., 北 thrice with c c beside, ac twice, xs";
  EXPECT_EQ(count.unknown(), 6);
  const auto causes = count.causes(2);
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_EQ(causes[0].text, "北");
  EXPECT_EQ(causes[0].count, 3);
  EXPECT_EQ(causes[1].text, "ac");
  EXPECT_EQ(count.causes(9)[2].text, std::string(24, 'x') + "... (101 characters)");
  EXPECT_DOUBLE_EQ(count.unknown_share(), 0.5);
}

TEST(CutCountTest, WordsFallApartIntoLetters) {
  const Tokenizer cut = tokenizer({"t", "##h", "##a", "##t", "that", "cat"});
  CutCount count(cut);
  count.add("that cat");
  EXPECT_EQ(count.single_letter_share(), 0);
  count.add("thaat");
  EXPECT_DOUBLE_EQ(count.single_letter_share(), 5.0 / 7);
}

TEST(CutCountTest, NothingIsNoShare) {
  const Tokenizer cut = tokenizer({"a"});
  EXPECT_EQ(CutCount(cut).unknown_share(), 0);
  EXPECT_EQ(CutCount(cut).stripped_share(), 0);
}

TEST(CutCountTest, MarksThatAreStrippedAreCounted) {
  const Tokenizer cut = tokenizer({"a"});
  const auto share = [&](std::string_view text) {
    CutCount count(cut);
    count.add(text);
    return count.stripped_share();
  };
  EXPECT_DOUBLE_EQ(share("caf\u00E9 A.\n"), 1.0 / 6);
  EXPECT_DOUBLE_EQ(share("e\u0301"), 0.5) << "a mark of its own is a character";
  EXPECT_DOUBLE_EQ(share("ที่"), 2.0 / 3);
  EXPECT_DOUBLE_EQ(share("が"), 1.0);
  EXPECT_DOUBLE_EQ(share("한국"), 0) << "taken apart, not stripped";
  EXPECT_DOUBLE_EQ(share("Ж北"), 0);
  const Tokenizer keeps = tokenizer({"a"}, {.strip_accents = false});
  CutCount count(keeps);
  count.add("café");
  EXPECT_EQ(count.stripped_share(), 0);
  EXPECT_TRUE(count.stripped(3).empty());
}

}  // namespace
}  // namespace cloze::text
