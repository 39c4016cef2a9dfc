#include "data/wikipedia/extract_article.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cloze::data {
namespace {

std::vector<ExtractArticle> articles_of(std::string_view text) {
  std::vector<ExtractArticle> articles;
  while (const auto article = take_extract_article(text)) articles.push_back(*article);
  return articles;
}

TEST(ExtractArticle, ArticlesComeOneByOne) {
  const auto articles = articles_of(
      "\n<doc id=\"1\">\nA\n\nA is b.\n\n</doc>\nbetween\n<doc id=\"2\">\nB\n\nB is c.\n<doc>\nC\n"
      "</doc>\n<doc id=\"4\">");
  ASSERT_EQ(articles.size(), 4u);
  EXPECT_EQ(articles[0].title, "A");
  EXPECT_EQ(articles[0].body, "\nA is b.\n\n");
  EXPECT_EQ(articles[1].title, "B");
  EXPECT_EQ(articles[1].body, "\nB is c.\n");
  EXPECT_EQ(articles[2].title, "C");
  EXPECT_EQ(articles[2].body, "");
  EXPECT_EQ(articles[3].title, "");
}

TEST(ExtractArticle, AMarkOfTheByteOrderBelongsToNoArticle) {
  for (const char* start : {"\xEF\xBB\xBF", "  ", "\xEF\xBB\xBF\t"}) {
    const std::string text = start + std::string("<doc id=\"1\">\nA\n\nA is b.\n</doc>\n");
    const auto articles = articles_of(text);
    ASSERT_EQ(articles.size(), 1u) << start;
    EXPECT_EQ(articles[0].body, "\nA is b.\n");
  }
}

TEST(ExtractArticle, HeadingsAreWrittenAsWikitext) {
  const auto wikitext = [](std::string_view body) {
    return wikitext_of({.title = "A", .body = body});
  };
  EXPECT_EQ(wikitext("A is short.\nEarly life.\nHe lived, it is said, for a long time.\nWorks "
                     "(1890).\n<h3>A b. c</h3>\nSee:\nWho?\nMr. Smith.\n"),
            "A is short.\n== Early life ==\nHe lived, it is said, for a long time.\n== Works "
            "(1890) ==\n== A b. c ==\nSee:\nWho?\nMr. Smith.\n");
  EXPECT_EQ(wikitext("\nA is b.\n.\n"), "\nA is b.\n.\n");  // the first paragraph is none
  EXPECT_EQ(wikitext("<h2></h2>\n<h2>x\n<h"), "<h2></h2>\n<h2>x\n<h\n");
}

TEST(ExtractArticle, BlocksHoldWholeArticles) {
  const std::string_view text = "<doc id=\"1\">\nA\n\nA is b.\n</doc>\n<doc id=\"2\">\nB\n</doc>\n";
  const size_t second = text.find("<doc", 1);
  for (size_t bytes = 1; bytes < text.size() + 2; ++bytes) {
    const auto blocks = blocks_of_articles(text, bytes);
    ASSERT_EQ(blocks.size(), bytes < second ? 2u : 1u) << bytes;
    EXPECT_EQ(blocks.front(), bytes < second ? text.substr(0, second) : text);
  }
  EXPECT_TRUE(blocks_of_articles("", 1).empty());
}

}  // namespace
}  // namespace cloze::data
