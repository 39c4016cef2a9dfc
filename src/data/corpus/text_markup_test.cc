#include "data/corpus/text_markup.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace cloze::data {
namespace {

TEST(TextMarkupTest, TextOfAnotherFormIsRefused) {
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

TEST(TextMarkupTest, TheRefusalNamesTheFormThatItIs) {
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

}  // namespace
}  // namespace cloze::data
