#include "text/sentence_marks.h"

#include <gtest/gtest.h>

namespace cloze::text {
namespace {

TEST(SentenceMarksTest, WordsEndAtPunctuationAndKeepStopsAndApostrophes) {
  const auto before_end = [](std::string_view text) { return word_before(text, text.size()); };
  EXPECT_EQ(before_end("(U.S"), "U.S");
  EXPECT_EQ(before_end("Goethe-Str"), "Str");
  EXPECT_EQ(before_end("«\u00E9t\u00E9"), "\u00E9t\u00E9");
  EXPECT_EQ(before_end("say 'don't"), "don't");
  EXPECT_EQ(before_end("l\u2019av"), "l\u2019av");
  EXPECT_EQ(before_end("in 94 \u20AC"), "\u20AC") << "a sign that is no punctuation";
  EXPECT_EQ(before_end(" "), "");
}

TEST(SentenceMarksTest, WhatMayBeginASentence) {
  for (const char* beginning : {"A", "\u00C9", "Я", "中", "7", "$5", "\"a", "(a", "\u00ABA", "- A",
                                "\u2014 A", "\u00BFA", "*A", "ه", "한"}) {
    EXPECT_TRUE(can_begin_sentence(beginning, 0)) << beginning;
  }
  for (const char* inside :
       {"a", "\u00E9", "я", "- a", "\u2014 a", "\u00ABa", ",", ")", "-", "%"}) {
    EXPECT_FALSE(can_begin_sentence(inside, 0)) << inside;
  }
}

TEST(SentenceMarksTest, TheWordAfterOpeningMarks) {
  EXPECT_EQ(word_at("\u00AB- Der Mann", 0), "Der");
  EXPECT_EQ(word_at("... x", 0), "");
}

TEST(SentenceMarksTest, CaseIsThatOfUnicode) {
  EXPECT_TRUE(is_upper_letter(U'Ж') && is_upper_letter(0x130));
  EXPECT_TRUE(is_lower_letter(U'ж') && is_lower_letter(U'ß'));
  EXPECT_FALSE(is_upper_letter(U'中') || is_lower_letter(U'中'));
}

}  // namespace
}  // namespace cloze::text
