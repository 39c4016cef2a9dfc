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

TEST(SentenceSplitterTest, StopsOfOtherScriptsEndWithOrWithoutASpace) {
  EXPECT_EQ(split("我来了。你呢？真的！！好。"), "我来了。 | 你呢？ | 真的！！ | 好。")
      << "Chinese";
  EXPECT_EQ(split("他说：“你好。”她走了。（完。）再见"),
            "他说：“你好。” | 她走了。 | （完。） | 再见")
      << "its quotes and brackets";
  EXPECT_EQ(split("「はい。」と言った。雨だ｡帰る"), "「はい。」と言った。 | 雨だ｡ | 帰る")
      << "Japanese goes on after a quotation";
  EXPECT_EQ(split("राम गया। सीता आई।वह सोया॥अंत"), "राम गया। | सीता आई। | वह सोया॥ | अंत") << "Hindi";
  EXPECT_EQ(split("ሰላም ነው። ደህና ነህ፧ አዎ"), "ሰላም ነው። | ደህና ነህ፧ | አዎ") << "Amharic";
  EXPECT_EQ(split("ខ្ញុំទៅ។ គាត់មក៕ ចប់"), "ខ្ញុំទៅ។ | គាត់មក៕ | ចប់") << "Khmer";
  EXPECT_EQ(split("သွားပြီ။လာပြီ။"), "သွားပြီ။ | လာပြီ။") << "Burmese";
  EXPECT_EQ(split("བཀྲ་ཤིས། བདེ་ལེགས། །ཡིན"), "བཀྲ་ཤིས། | བདེ་ལེགས། ། | ཡིན") << "Tibetan";
}

TEST(SentenceSplitterTest, StopsOfArabicAndArmenianNeedASpace) {
  EXPECT_EQ(split("هل جاء؟ نعم. ذهب!"), "هل جاء؟ | نعم. | ذهب!") << "Arabic";
  EXPECT_EQ(split("وہ گیا۔ ایم۔اے کیا۔ بس"), "وہ گیا۔ | ایم۔اے کیا۔ | بس") << "Urdu";
  EXPECT_EQ(split("Նա եկավ։ Գնաց։"), "Նա եկավ։ | Գնաց։") << "Armenian";
}

TEST(SentenceSplitterTest, ThaiAndLaoSentencesArePartedBySpaces) {
  EXPECT_EQ(split("ฉันไปตลาด เขามาบ้าน  จบ"), "ฉันไปตลาด | เขามาบ้าน | จบ");
  EXPECT_EQ(split("เด็กๆ เล่น ปี 2563 และ BERT ดี"), "เด็กๆ เล่น | ปี 2563 และ BERT ดี")
      << "not after a repetition mark, nor beside a number or another script";
  EXPECT_EQ(split("ຂ້ອຍໄປ ລາວມາ"), "ຂ້ອຍໄປ | ລາວມາ");
}

// Quadratic work would not end.
TEST(SentenceSplitterTest, AMillionSpacesAreReadOnce) {
  const std::string spaces(1'000'000, ' ');
  EXPECT_EQ(split_sentences("One." + spaces + "Two" + spaces + "three"),
            (std::vector<std::string_view>{"One.", "Two" + spaces + "three"}));
}

TEST(SentenceSplitterTest, WhiteSpaceIsTrimmedAndNothingGivesNothing) {
  EXPECT_EQ(split("  One.\t Two. \r"), "One. | Two.");
  EXPECT_TRUE(split_sentences("").empty());
  EXPECT_TRUE(split_sentences(" \t ").empty());
  EXPECT_EQ(split("..."), "...");
}

}  // namespace
}  // namespace cloze::text
