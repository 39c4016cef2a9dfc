#include "data/corpus/wrapped_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "data/corpus/corpus_text.h"

namespace cloze::data {
namespace {

// Paragraphs joined with "/", documents ended by "|".
std::string visited(std::string_view text) {
  std::string all;
  visit_paragraphs(text, {.format = TextFormat::kWrapped},
                   {.paragraph = [&](std::string_view one) { all.append(one).append("/"); },
                    .document_end = [&] { all.append("|"); }});
  return all;
}

TEST(WrappedTextTest, LinesOfAParagraphAreJoined) {
  EXPECT_EQ(visited("It rained on\n  the mill all day. \r\nIt\n\nYes.\n"),
            "It rained on the mill all day. It/Yes./");
  EXPECT_EQ(visited(""), "");
  EXPECT_EQ(visited("\n\n \n"), "|");
  EXPECT_EQ(visited("a drawing-\nroom"), "a drawing- room/");
}

TEST(WrappedTextTest, ScriptsWithoutSpacesAreJoinedWithoutOne) {
  EXPECT_EQ(visited("河边的\n磨坊主，\n卖了。\n"), "河边的磨坊主，卖了。/");
  EXPECT_EQ(visited("川の\nそばの\n"), "川のそばの/");
  EXPECT_EQ(visited("คนโม่แป้ง\nขายข้าว\n"), "คนโม่แป้งขายข้าว/");
  EXPECT_EQ(visited("磨坊主\nMiller\n卖了\n"), "磨坊主 Miller 卖了/");
  EXPECT_EQ(visited("강가의\n방앗간\n"), "강가의 방앗간/");
}

TEST(WrappedTextTest, ThreeBlankLinesEndADocument) {
  EXPECT_EQ(visited("a\n\nb\n\n\nc\n\n\n\nd\n\n\n\n\n\n\ne\n"), "a/b/c/|d/|e/");
}

TEST(WrappedTextTest, BlocksOfAnySizeGiveTheSameParagraphs) {
  const std::string_view text = "a b\nc\n\nd e\nf\n\n\n\ng h\n i\n\n\nj\n\n";
  for (size_t bytes = 1; bytes < text.size() + 2; ++bytes) {
    std::string joined, all;
    for (const std::string_view block : split_into_blocks(text, bytes, TextFormat::kWrapped)) {
      joined += block;
      all += visited(block);
    }
    EXPECT_EQ(joined, text);
    EXPECT_EQ(all, visited(text)) << bytes;
  }
}

TEST(WrappedTextTest, TextWithoutBlankLinesIsCutAtLines) {
  std::string text;
  while (text.size() < 3 * kLongestParagraph) text += "nobody stopped to leave a line blank\n";
  const auto blocks = split_into_blocks(text, 64 << 10, TextFormat::kWrapped);
  EXPECT_GT(blocks.size(), 20u);
  for (const std::string_view block : blocks) EXPECT_EQ(block.back(), '\n');
  size_t longest = 0;
  visit_wrapped(
      text, [&](std::string_view paragraph) { longest = std::max(longest, paragraph.size()); },
      [] {});
  EXPECT_GE(longest, kLongestParagraph);
  EXPECT_LT(longest, kLongestParagraph + 100);
}

TEST(WrappedTextTest, DocumentsAndParagraphsAreFound) {
  const std::string_view text = "aa\nbb\n\ncc\n\n\n\ndd\nee\n";
  const auto from = [&](size_t at) { return next_document(text, at, TextFormat::kWrapped); };
  EXPECT_EQ(text.substr(from(0)), "dd\nee\n");
  EXPECT_EQ(from(15), text.size());
  const auto last = [&](size_t end) { return last_paragraph(text, 0, end, TextFormat::kWrapped); };
  EXPECT_EQ(text.substr(last(text.size())), "dd\nee\n");
  EXPECT_EQ(text.substr(last(9)), "cc\n\n\n\ndd\nee\n");
  EXPECT_EQ(text.substr(last(5)), "bb\n\ncc\n\n\n\ndd\nee\n") << "the last line, for want of one";
  EXPECT_EQ(last(2), 2u) << "nor that";
  EXPECT_EQ(last_paragraph("aa\r\n\r\nbb\r\nc", 0, 11, TextFormat::kWrapped), 6u);
}

}  // namespace
}  // namespace cloze::data
