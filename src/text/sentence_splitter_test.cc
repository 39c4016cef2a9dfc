#include "text/sentence_splitter.h"

#include <gtest/gtest.h>

#include <string>

namespace cloze::text {
namespace {

std::string split(std::string_view paragraph, const StopHabits& learned = {}) {
  std::string joined;
  for (std::string_view sentence : SentenceSplitter(learned).split(paragraph)) {
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

// Abbreviations of one language that are words of another.
TEST(SentenceSplitterTest, CommonWordsAreNoAbbreviations) {
  for (const char* text : {"He changed his mind. | Bob left.", "She loves pop. | Bob does not.",
                           "He took off his cap. | Bob left.", "Ils étaient sept. | Paul partit.",
                           "She met her ex. | Bob left.", "Han gömde sig. | Erik gick hem.",
                           "Eleverna skrev ett prov. | Erik gick hem.",
                           "У него острый ум. | Пушкин ушёл.", "Это древний род. | Пушкин ушёл."}) {
    std::string paragraph = text;
    paragraph.erase(paragraph.find("| "), 2);
    EXPECT_EQ(split(paragraph), text);
  }
  for (const char* text : {"Véase cap. 3 y prov. 4.", "He came on Sept. 5 and left.",
                           "Поэт (род. 5 мая, ум. 9 июня) жил там."}) {
    EXPECT_EQ(split(text), text) << "before a number";
  }
}

TEST(SentenceSplitterTest, NumbersAndLowerCaseGoOn) {
  EXPECT_EQ(split("It cost 3.50 dollars. 427 were sold."),
            "It cost 3.50 dollars. | 427 were sold.");
  EXPECT_EQ(split("The site example.org works. or not"), "The site example.org works. or not");
}

TEST(SentenceSplitterTest, SmallLettersOfAnyScriptGoOn) {
  EXPECT_EQ(split("Он жил в 1871 г. в Париже и др. городах. Потом уехал."),
            "Он жил в 1871 г. в Париже и др. городах. | Потом уехал.");
  EXPECT_EQ(split("Il vint... \u00E0 pied. \u00C0 midi."),
            "Il vint... \u00E0 pied. | \u00C0 midi.");
  EXPECT_EQ(split("\u201EJa?\u201C fragte er. \u00BBNein!\u00AB \u00BBDoch.\u00AB"),
            "\u201EJa?\u201C fragte er. | \u00BBNein!\u00AB | \u00BBDoch.\u00AB");
}

TEST(SentenceSplitterTest, InitialsAndAbbreviationsOfOtherLanguages) {
  EXPECT_EQ(split("Поэт А. С. Пушкин родился в 1799 г. Он умер."),
            "Поэт А. С. Пушкин родился в 1799 г. | Он умер.");
  EXPECT_EQ(split("Obst, z. B. Birnen, bzw. Butter. Das schmeckt."),
            "Obst, z. B. Birnen, bzw. Butter. | Das schmeckt.");
  EXPECT_EQ(split("Am 3. Oktober kam er. Es war 1990. Oktober war kalt."),
            "Am 3. Oktober kam er. | Es war 1990. | Oktober war kalt.");
  EXPECT_EQ(split("En 493 av. J.-C. Rome brûla."), "En 493 av. J.-C. Rome brûla.");
  EXPECT_EQ(split("قال أحمد ز. أمين ذلك. ثم ذهب."), "قال أحمد ز. أمين ذلك. | ثم ذهب.");
}

TEST(SentenceSplitterTest, AWordBeforeAnApostropheIsPartOfTheNextOne) {
  EXPECT_EQ(split("They didn't. Today we do. The 70's. Paris."),
            "They didn't. | Today we do. | The 70's. | Paris.");
}

TEST(SentenceSplitterTest, ASpaceMayStandBeforeAClosingQuote) {
  EXPECT_EQ(split("« Viens ! » dit-il. « Non. » Elle partit."),
            "« Viens ! » dit-il. | « Non. » | Elle partit.");
  EXPECT_EQ(split("« Viens\u00A0!\u00A0» dit-il."), "« Viens\u00A0!\u00A0» dit-il.");
  EXPECT_EQ(split("He said : \" Come ! \" and left . \" No . \" She stayed ."),
            "He said : \" Come ! \" and left . | \" No . \" | She stayed .");
  EXPECT_EQ(split("He said: \" Come ! \". She stayed."), "He said: \" Come ! \". | She stayed.");
}

TEST(SentenceSplitterTest, WhatHasNoLetterIsNoSentence) {
  EXPECT_EQ(split("1. The first. 2. The second."), "1. The first. | 2. The second.");
  EXPECT_EQ(split("He left. (...) She stayed."), "He left. | (...) She stayed.");
}

TEST(SentenceSplitterTest, DashesMayOpenASentence) {
  EXPECT_EQ(split("He came. - Why? \u2014 Nobody knew. - not even he."),
            "He came. | - Why? | \u2014 Nobody knew. - not even he.");
}

TEST(SentenceSplitterTest, WhatTheTextHasShownCounts) {
  const std::string german = "Der 18. Stock hat die Abt. Einkauf. Im 18. Die Tür ist zu.";
  EXPECT_EQ(split(german), "Der 18. | Stock hat die Abt. | Einkauf. | Im 18. | Die Tür ist zu.");
  EXPECT_EQ(split(german, {.abbreviations = {"abt"}, .has_ordinals = true}),
            "Der 18. Stock hat die Abt. Einkauf. | Im 18. | Die Tür ist zu.");
  EXPECT_EQ(split("Er mag Tee, Kaffee usw. Zudem Bier."), "Er mag Tee, Kaffee usw. Zudem Bier.");
  EXPECT_EQ(split("Er mag Tee, Kaffee usw. Zudem Bier.", {.openers = {"Zudem"}}),
            "Er mag Tee, Kaffee usw. | Zudem Bier.");
}

TEST(SentenceSplitterTest, StopsOfOtherScriptsEndWithOrWithoutASpace) {
  EXPECT_EQ(split("我来了。你呢？真的！！好。"), "我来了。 | 你呢？ | 真的！！ | 好。")
      << "Chinese";
  EXPECT_EQ(split("他说：“你好。”她走了。（完。）再见"),
            "他说：“你好。” | 她走了。 | （完。） | 再见")
      << "its quotes and brackets";
  EXPECT_EQ(split("「はい。」と言った。雨だ｡帰る"), "「はい。」と言った。 | 雨だ｡ | 帰る")
      << "Japanese goes on after a quotation";
  EXPECT_EQ(split("やめて!拍手が起きた?はい"), "やめて! | 拍手が起きた? | はい")
      << "marks of ASCII before Japanese";
  EXPECT_EQ(split("“谁？”。他走了。"), "“谁？”。 | 他走了。");
  EXPECT_EQ(split("즐길 수 있는 곳. 그는 갔다."), "즐길 수 있는 곳. | 그는 갔다.")
      << "a Korean syllable is no initial";
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
  EXPECT_EQ(SentenceSplitter().split("One." + spaces + "Two" + spaces + "three"),
            (std::vector<std::string_view>{"One.", "Two" + spaces + "three"}));
}

TEST(SentenceSplitterTest, StopsThatEndNothingAreReadOnce) {
  for (const std::string_view piece :
       {"1. ", "Mr. \" A ", "(...) ", "J. ", "- ", "\". ", "\u00AB. "}) {
    std::string text;
    while (text.size() < 1'000'000) text += piece;
    EXPECT_FALSE(SentenceSplitter().split(text).empty()) << piece;
  }
}

TEST(SentenceSplitterTest, WhiteSpaceIsTrimmedAndNothingGivesNothing) {
  EXPECT_EQ(split("  One.\t Two. \r"), "One. | Two.");
  EXPECT_TRUE(SentenceSplitter().split("").empty());
  EXPECT_TRUE(SentenceSplitter().split(" \t ").empty());
  EXPECT_EQ(split("..."), "...");
}

}  // namespace
}  // namespace cloze::text
