#include "data/corpus/corpus_text.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace cloze::data {
namespace {

// Sentences joined with "/", documents ended by "|".
std::string visited(std::string_view text, TextFormat format) {
  std::string all;
  SentenceReader().visit(text, {.format = format},
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
    for (const std::string_view block : split_into_blocks(text, bytes, TextFormat::kSentences)) {
      joined += block;
      all += visited(block, TextFormat::kSentences);
    }
    EXPECT_EQ(joined, text);
    EXPECT_EQ(all, visited(text, TextFormat::kSentences)) << bytes;
  }
}

TEST(CorpusTextTest, UnknownFormatIsRefused) {
  EXPECT_EQ(text_format_from("wikiextractor"), TextFormat::kWikiExtractor);
  EXPECT_THROW(text_format_from("html"), UserError);
}

}  // namespace
}  // namespace cloze::data
