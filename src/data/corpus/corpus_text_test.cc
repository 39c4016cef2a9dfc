#include "data/corpus/corpus_text.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace cloze::data {
namespace {

// Sentences joined with "/", documents ended by "|".
std::string visited(std::string_view text, TextFormat format) {
  std::string all;
  SentenceReader().visit(text, format,
                         {.sentence = [&](std::string_view s) { all.append(s).append("/"); },
                          .document_end = [&] { all.append("|"); }});
  return all;
}

TEST(CorpusTextTest, SentencesFormat) {
  EXPECT_EQ(visited("a b\nc\n\nd\n \t\n\xE3\x80\x80\ne", TextFormat::kSentences), "a b/c/|d/||e/");
  EXPECT_EQ(visited("", TextFormat::kSentences), "");
}

TEST(CorpusTextTest, ParagraphsAreSplit) {
  EXPECT_EQ(visited("It rains. It pours.\nYes.\n\nThe sun shines.", TextFormat::kParagraphs),
            "It rains./It pours./Yes./|The sun shines./");
}

TEST(CorpusTextTest, JsonLinesAreDocuments) {
  EXPECT_EQ(visited("{\"id\": 1, \"text\": \"It rains. It\\npours.\"}\n\n{\"text\": \"Yes.\"}",
                    TextFormat::kJsonLines),
            "It rains./It/pours./|Yes./|");
  for (const std::string_view bad : {"{\"text\": 1}", "{}", "[]", "{\"text\": \"a", "text"}) {
    EXPECT_THROW(visited(bad, TextFormat::kJsonLines), BadText) << bad;
  }
}

TEST(CorpusTextTest, HalfASurrogatePairInAJsonLineIsReplaced) {
  EXPECT_EQ(visited(R"({"text": "a\ud83d b \ud83d\ude00 \\ud83d"})", TextFormat::kJsonLines),
            "a\uFFFD b \U0001F600 \\ud83d/|");
}

TEST(CorpusTextTest, BlocksOfAnySizeGiveTheSameSentences) {
  const std::string_view text = "a b\nc\n\nd\n\n\nlonger line here\ne";
  for (size_t bytes = 1; bytes < text.size() + 2; ++bytes) {
    std::string joined, all;
    for (const std::string_view block : split_into_blocks(text, bytes)) {
      joined += block;
      all += visited(block, TextFormat::kSentences);
    }
    EXPECT_EQ(joined, text);
    EXPECT_EQ(all, visited(text, TextFormat::kSentences)) << bytes;
  }
}

TEST(CorpusTextTest, BlankIsWhatPythonStripsAway) {
  EXPECT_TRUE(is_blank(""));
  EXPECT_TRUE(is_blank(" \t\r\x1C\u00A0\u2003\u3000"));
  EXPECT_FALSE(is_blank(" x"));
  EXPECT_FALSE(is_blank("\u200B")) << "zero width space is not white space";
  EXPECT_FALSE(is_blank("\xC2"));
}

TEST(CorpusTextTest, TextOfAnotherFormIsRefused) {
  using enum TextFormat;
  const std::string extract = "<doc id=\"1\">\nTitle\nText.\n</doc>\n";
  EXPECT_NO_THROW(check_text_form(extract, kWikiExtractor, "f"));
  EXPECT_NO_THROW(check_text_form("\n\n\n\n" + extract, kWikiExtractor, "f"));
  EXPECT_NO_THROW(check_text_form("", kWikiExtractor, "f"));
  EXPECT_NO_THROW(check_text_form("Text.\n", kSentences, "f"));
  EXPECT_THROW(check_text_form(extract, kSentences, "f"), UserError);
  EXPECT_THROW(check_text_form(extract, kJsonLines, "f"), UserError);
  EXPECT_THROW(check_text_form("Text.\n", kWikiExtractor, "f"), UserError);
  EXPECT_THROW(check_text_form("\n\n\n\nText.\n", kWikiExtractor, "f"), UserError);
  EXPECT_THROW(check_text_form("<mediawiki xmlns=", kParagraphs, "f"), UserError);
  EXPECT_THROW(check_text_form("<mediawiki xmlns=", kWikiExtractor, "f"), UserError);
  EXPECT_NO_THROW(check_text_form("<mediawiki xmlns=", kWikipedia, "f"));
  EXPECT_NO_THROW(check_text_form(extract, kWikipedia, "f"));
}

std::string refusal_of(std::string_view text, TextFormat format) {
  try {
    check_text_form(text, format, "f");
  } catch (const UserError& error) {
    return error.what();
  }
  return "taken";
}

TEST(CorpusTextTest, TheRefusalNamesTheFormThatItIs) {
  using enum TextFormat;
  const std::string lines = "\n{\"id\": 1, \"text\": \"a\"}\n{\"text\": \"b\"}\n";
  EXPECT_EQ(refusal_of(lines, kSentences),
            "f begins with a JSON object: it is JSON Lines, not sentences; set --input-format "
            "jsonl");
  EXPECT_NE(refusal_of(lines, kParagraphs), "taken");
  EXPECT_EQ(refusal_of(lines, kJsonLines), "taken");
  EXPECT_EQ(refusal_of("<?xml version=\"1.0\"?>\n<mediawiki>", kParagraphs),
            "f begins with <mediawiki: it is a dump, not paragraphs; set --input-format wikipedia");
  EXPECT_EQ(refusal_of("<?xml version=\"1.0\"?> begins a document.\n", kSentences), "taken");
  EXPECT_EQ(refusal_of("<?xml version=\"1.0\"?>\n<mediawiki>", kWikipedia), "taken");
  for (const char* json :
       {"{\"content\": \"a\"}\n", "{\n  \"data\": [\n", "[{\"text\": \"a\"},\n"}) {
    EXPECT_NE(refusal_of(json, kSentences), "taken") << json;
  }
  EXPECT_EQ(refusal_of("[\n {\"text\": \"a\"}]\n", kJsonLines),
            "f is a JSON array; write its objects one a line, each with a \"text\", and set "
            "--input-format jsonl");
  for (const char* plain : {"{braces} are text\n", "{\n", "[1] A note.\n", "[{x}]\n", ""}) {
    EXPECT_EQ(refusal_of(plain, kSentences), "taken") << plain;
  }
}

TEST(CorpusTextTest, UnknownFormatIsRefused) {
  EXPECT_EQ(text_format_from("wikiextractor"), TextFormat::kWikiExtractor);
  EXPECT_THROW(text_format_from("html"), UserError);
}

}  // namespace
}  // namespace cloze::data
