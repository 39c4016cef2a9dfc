#include "data/corpus/form_recognition.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/philox.h"
#include "text/sentence_marks.h"
#include "text/utf8.h"

namespace cloze::data {
namespace {

// Made-up sentences of a language.
struct Language {
  const char* name;
  std::vector<std::string> words;
  std::string comma;
  std::string stop;
  std::string space;  // between words, and sentences
};

const std::vector<Language>& languages() {
  static const std::vector<Language> all{
      {"English",
       {"the", "miller", "of", "Ashford", "sold", "seven", "sacks", "before", "breakfast", "and",
        "nobody", "understood", "why", "he", "rowed", "across"},
       ",",
       ".",
       " "},
      {"German",
       {"die", "Müllerin", "an", "der", "Brücke", "verkaufte", "Getreidesäcke", "obwohl", "niemand",
        "in", "Fürstenwalde", "sie", "kannte", "und", "ging"},
       ",",
       ".",
       " "},
      {"Russian",
       {"мельник", "у", "реки", "продал", "семь", "мешков", "потому", "что", "никто", "не", "знал",
        "дороги", "и", "он", "переправился"},
       ",",
       ".",
       " "},
      {"Hindi",
       {"नदी", "के", "पास", "चक्की", "वाले", "ने", "सात", "बोरियाँ", "बेचीं", "और", "किसी", "को", "रास्ता",
        "मालूम", "नहीं", "था"},
       ",",
       "।",
       " "},
      {"Arabic",
       {"الطحان", "عند", "النهر", "باع", "سبعة", "أكياس", "قبل", "الفطور", "ولم", "يعرف", "أحد",
        "لماذا", "عبر", "الجسر"},
       "،",
       ".",
       " "},
      {"Korean",
       {"강가의", "방앗간", "주인은", "아침", "전에", "자루", "일곱", "개를", "팔았고", "아무도",
        "길을", "몰랐다", "그는", "건너갔다"},
       ",",
       ".",
       " "},
      {"Turkish",
       {"ırmağın", "yanındaki", "değirmenci", "yedi", "çuval", "sattı", "çünkü", "kimse", "yolu",
        "bilmiyordu", "ve", "o", "karşıya", "geçti"},
       ",",
       ".",
       " "},
      {"Chinese",
       {"河边", "的", "磨坊主", "在", "早饭", "前", "卖了", "七袋", "谷子", "没有人", "知道", "路",
        "他", "就", "过了桥"},
       "，",
       "。",
       ""},
      {"Japanese",
       {"川の", "そばの", "粉屋は", "朝食の", "前に", "袋を", "七つ", "売り", "だれも", "道を",
        "知らず", "彼は", "渡った"},
       "、",
       "。",
       ""}};
  return all;
}

// With a capital, in Latin and Cyrillic letters.
std::string capitalised(const std::string& word) {
  const text::DecodedCodePoint first = text::decode_utf8(word, 0);
  const char32_t c = first.code_point;
  const bool has_capital =
      (c >= 'a' && c <= 'z') || (c >= 0xE0 && c <= 0xFE) || (c >= 0x430 && c <= 0x44F);
  std::string capital;
  text::append_utf8(c == U'\u0131' ? U'I' : has_capital ? c - 0x20 : c, capital);
  return capital + word.substr(first.bytes);
}

std::string sentence(const Language& language, PhiloxStream& random) {
  const uint32_t words = 3 + random.below(18);
  std::string text;
  for (uint32_t w = 0; w < words; ++w) {
    const std::string& word =
        language.words[random.below(static_cast<uint32_t>(language.words.size()))];
    if (w > 0) text += random.below(9) == 0 ? language.comma + language.space : language.space;
    text += w == 0 ? capitalised(word) : word;
  }
  return text + language.stop;
}

std::string paragraph(const Language& language, PhiloxStream& random) {
  const uint32_t sentences = 3 + random.below(6);
  std::string text;
  for (uint32_t s = 0; s < sentences; ++s) {
    if (s > 0) text += language.space;
    text += sentence(language, random);
  }
  return text;
}

// Lines of at most `width` columns, broken at spaces, or anywhere where a language has none.
std::string wrapped(const std::string& paragraph, const Language& language, size_t width) {
  std::string text, line, word;
  size_t line_width = 0, word_width = 0;
  const auto flush = [&] {
    const bool is_separate = !line.empty() && !language.space.empty();
    if (line_width + word_width + (is_separate ? 1 : 0) > width && !line.empty()) {
      text += line + "\n";
      line.clear();
      line_width = 0;
    } else if (is_separate) {
      line += ' ';
      ++line_width;
    }
    line += word;
    line_width += word_width;
    word.clear();
    word_width = 0;
  };
  for (size_t at = 0; at < paragraph.size();) {
    const size_t bytes = text::decode_utf8(paragraph, at).bytes;
    if (paragraph[at] == ' ') {
      flush();
    } else {
      word += paragraph.substr(at, bytes);
      word_width += language.space.empty() ? 2 : 1;
      if (language.space.empty()) flush();
    }
    at += bytes;
  }
  flush();
  return text + line + "\n";
}

enum class Layout {
  kSentences,
  kSentencesOfDocuments,
  kParagraphs,
  kParagraphsOfDocuments,
  kApart,
  kWrapped
};

// `size` sentences or paragraphs.
std::string text_of(const Language& language, Layout layout, size_t size, size_t width,
                    PhiloxStream& random) {
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    const bool ends_document = i % 5 == 4;
    switch (layout) {
      case Layout::kSentences:
        text += sentence(language, random) + "\n";
        break;
      case Layout::kSentencesOfDocuments:
        text += sentence(language, random) + (ends_document ? "\n\n" : "\n");
        break;
      case Layout::kParagraphs:
        text += paragraph(language, random) + "\n";
        break;
      case Layout::kParagraphsOfDocuments:
        text += paragraph(language, random) + (ends_document ? "\n\n" : "\n");
        break;
      case Layout::kApart:
        text += paragraph(language, random) + "\n\n";
        break;
      case Layout::kWrapped:
        text += wrapped(paragraph(language, random), language, width) + "\n";
        break;
    }
  }
  return text;
}

TextFormat format_of(Layout layout, size_t size) {
  switch (layout) {
    case Layout::kSentences:
    case Layout::kSentencesOfDocuments:
      return TextFormat::kSentences;
    case Layout::kApart:
      return size == 1 ? TextFormat::kParagraphs : TextFormat::kWrapped;
    case Layout::kWrapped:
      return TextFormat::kWrapped;
    default:
      return TextFormat::kParagraphs;
  }
}

std::string with_carriage_returns(const std::string& text) {
  std::string all;
  for (const char c : text) c == '\n' ? all += "\r\n" : all += c;
  return all;
}

// From one line on; what is too short is not told, but never told wrong.
TEST(FormRecognitionTest, EveryFormIsKnownInEveryLanguageFromAFewLinesOn) {
  uint64_t seed = 0;
  for (const Language& language : languages()) {
    for (const Layout layout :
         {Layout::kSentences, Layout::kSentencesOfDocuments, Layout::kParagraphs,
          Layout::kParagraphsOfDocuments, Layout::kApart, Layout::kWrapped}) {
      for (const size_t width : {36, 50, 66, 72, 80, 100, 140}) {
        for (const size_t size : {1, 2, 3, 4, 5, 6, 8, 10, 14, 20, 40, 120}) {
          PhiloxStream random(++seed, 0);
          const std::string text = text_of(language, layout, size, width, random);
          const auto form = LineEvidence(text).form();
          const std::string where = fmt::format("{} {} size {} width {}:\n{}", language.name,
                                                static_cast<int>(layout), size, width, text);
          const TextFormat expected = format_of(layout, size);
          if (form) {
            EXPECT_EQ(text_format_name(*form), text_format_name(expected)) << where;
          }
          if (size >= 10) {
            EXPECT_TRUE(form) << where;
          }
          EXPECT_EQ(LineEvidence(with_carriage_returns(text)).form(), form) << where;
        }
      }
    }
  }
}

TextFormat form_of(const std::string& text) { return recognised_forms({text}, 1).front().format; }

// Lines without stops, even all of one length, are lines.
TEST(FormRecognitionTest, WhatHasNoStopsIsTakenLineByLine) {
  std::string numbered, list, verse;
  for (int i = 1000; i < 1200; ++i) {
    numbered += fmt::format("w{} w{} w{} w{} w{} w{}\n", i, i + 1, i + 2, i + 3, i + 4, i + 5);
    list += fmt::format("- item {}{}\n", i, i % 3 == 0 ? " of the longer kind" : "");
    verse += fmt::format("The river {} ran below the town\nAnd no one stirred{}\n{}", i,
                         i % 2 == 0 ? ";" : " until the morning,", i % 4 == 0 ? "\n" : "");
  }
  for (const std::string& text : {numbered, list, verse}) {
    EXPECT_EQ(form_of(text), TextFormat::kSentences) << text.substr(0, 200);
  }
}

TEST(FormRecognitionTest, MarkupAndJsonShowTheirForm) {
  EXPECT_EQ(form_of("<doc id=\"1\">\nA\n\nA b.\n</doc>\n"), TextFormat::kWikiExtractor);
  EXPECT_EQ(form_of("<mediawiki><page>"), TextFormat::kWikipedia);
  EXPECT_EQ(form_of("\n{ \"text\": \"A. B.\"}\n"), TextFormat::kJsonLines);
}

TEST(FormRecognitionTest, WhatIsTooShortIsLikeTheOthers) {
  PhiloxStream random(1, 0);
  const Language& english = languages().front();
  const std::string paragraphs = text_of(english, Layout::kParagraphs, 20, 0, random);
  using enum TextFormat;
  const std::vector<RecognisedForm> alone = recognised_forms({"It rains. It pours.\n"}, 1);
  EXPECT_EQ(alone, (std::vector<RecognisedForm>{{kSentences, false}}));
  EXPECT_EQ(
      recognised_forms({"It rains. It pours.\n", paragraphs, ""}, 2),
      (std::vector<RecognisedForm>{{kParagraphs, false}, {kParagraphs}, {kParagraphs, false}}));
  EXPECT_EQ(recognised_forms({}, 1), std::vector<RecognisedForm>());
}

// The first 64 KiB and as much from the middle are looked at.
TEST(FormRecognitionTest, TheMiddleOfALongTextCounts) {
  PhiloxStream random(2, 0);
  const Language& english = languages().front();
  std::string text = text_of(english, Layout::kSentences, 200, 0, random);
  while (text.size() < (1 << 20)) text += text_of(english, Layout::kWrapped, 20, 70, random);
  EXPECT_EQ(form_of(text), TextFormat::kWrapped);
}

TEST(FormRecognitionTest, FormsAreDescribed) {
  using enum TextFormat;
  EXPECT_EQ(describe_forms({"a.txt"}, {{kWrapped}}),
            "read a.txt as wrapped (of any number of lines, with blank lines between paragraphs); "
            "set --input-format to read it otherwise");
  EXPECT_EQ(describe_forms({"a", "b", "c", "d"},
                           {{kParagraphs}, {kSentences}, {kParagraphs}, {kParagraphs, false}}),
            "read b as sentences (one a line), a and 1 more as paragraphs (one a line), d as "
            "paragraphs (one a line, like the other files); set --input-format to read them "
            "otherwise");
  EXPECT_EQ(describe_forms({"a"}, {{kSentences, false}}),
            "read a as sentences (one a line, as there is too little text to tell); set "
            "--input-format to read it otherwise");
}

}  // namespace
}  // namespace cloze::data
