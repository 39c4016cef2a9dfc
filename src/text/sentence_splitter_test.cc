#include "text/sentence_splitter.h"

#include <gtest/gtest.h>

#include <string>

namespace cloze::text {
namespace {

std::string split(std::string_view paragraph) {
  std::string joined;
  for (std::string_view sentence : split_sentences(paragraph)) {
    joined += joined.empty() ? "" : " | ";
    joined += sentence;
  }
  return joined;
}

TEST(SentenceSplitterTest, StopsMarksAndTheirQuotes) {
  EXPECT_EQ(split("It rains. It pours!  Does it? Yes"), "It rains. | It pours! | Does it? | Yes");
  EXPECT_EQ(split("\"Go.\" He went. (He ran.) Then \"why?\" she asked."),
            "\"Go.\" | He went. | (He ran.) | Then \"why?\" she asked.");
  EXPECT_EQ(split("He left\u2026 \u201CWhy?\u201D \u00C9mile asked."),
            "He left\u2026 | \u201CWhy?\u201D | \u00C9mile asked.");
}

TEST(SentenceSplitterTest, AbbreviationsAndInitialsDoNotEndASentence) {
  EXPECT_EQ(split("Mr. Cassius met Dr. Who and J. R. R. Tolkien, e.g. Bilbo. He left."),
            "Mr. Cassius met Dr. Who and J. R. R. Tolkien, e.g. Bilbo. | He left.");
  EXPECT_EQ(split("See No. 5 and p. 12. No. It is not."),
            "See No. 5 and p. 12. | No. | It is not.");
  EXPECT_EQ(split("The U.S. Navy sailed to the U.S. The crew slept."),
            "The U.S. Navy sailed to the U.S. | The crew slept.");
  EXPECT_EQ(split("Acme Inc. Paris was founded by Smith Jr. In 1900 it closed."),
            "Acme Inc. Paris was founded by Smith Jr. | In 1900 it closed.");
}

TEST(SentenceSplitterTest, NumbersAndLowerCaseGoOn) {
  EXPECT_EQ(split("It cost 3.50 dollars. 427 were sold."),
            "It cost 3.50 dollars. | 427 were sold.");
  EXPECT_EQ(split("The site example.org works. or not"), "The site example.org works. or not");
}

TEST(SentenceSplitterTest, WhiteSpaceIsTrimmedAndNothingGivesNothing) {
  EXPECT_EQ(split("  One.\t Two. \r"), "One. | Two.");
  EXPECT_TRUE(split_sentences("").empty());
  EXPECT_TRUE(split_sentences(" \t ").empty());
  EXPECT_EQ(split("..."), "...");
}

}  // namespace
}  // namespace cloze::text
