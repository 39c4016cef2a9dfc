#include "tasks/report/score_parts.h"

#include <gtest/gtest.h>

namespace cloze::tasks {
namespace {

TEST(ScorePartsTest, ShortensByCodePoints) {
  EXPECT_EQ(shortened("naïve", 5), "naïve");
  EXPECT_EQ(shortened("naïveté", 3), "naï…");
  EXPECT_EQ(shortened("a\nb\x01", 9), "a b ");
  EXPECT_EQ(shortened("", 0), "");
}

TEST(ScorePartsTest, TextsAreEscaped) {
  EXPECT_EQ(text_cell("<b>&\"\n"), "&lt;b>&amp;&quot; ");
  EXPECT_EQ(heading("a < b"), "<h2>a &lt; b</h2>\n");
  EXPECT_EQ(paragraph("a & b"), "<p>a &amp; b</p>\n");
  EXPECT_EQ(score_facts({{"F1", 0.25}}), "<dl>\n<dt>F1</dt><dd>0.2500</dd>\n</dl>\n");
}

TEST(ScorePartsTest, TheLowestF1IsFirstAndTheMeansAreLast) {
  const std::string html =
      precision_recall_table("class", {{"good", {.f1 = 0.9, .support = 3}}, {"<bad>", {.f1 = 0.1}}},
                             {{"mean", {.f1 = 0.0}}});
  const size_t bad = html.find("&lt;bad>"), good = html.find("good"), mean = html.find("mean");
  EXPECT_LT(bad, good);
  EXPECT_LT(good, mean);
  EXPECT_NE(html.find("<td class=\"number\">0.9000</td><td class=\"number\">3</td>"),
            std::string::npos)
      << html;
}

}  // namespace
}  // namespace cloze::tasks
