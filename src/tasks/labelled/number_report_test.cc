#include "tasks/labelled/number_report.h"

#include <gtest/gtest.h>

namespace cloze::tasks {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(NumberReportTest, TheLargestErrorIsFirst) {
  const std::vector<LabelledText> rows{
      {.text = "first", .line = 2}, {.text = "<second>", .line = 3}, {.text = "third", .line = 4}};
  const std::vector<double> predictions{1.5, 4.0, 3.0}, labels{1.0, 2.0, 3.25};
  const std::string html =
      number_report({.rows = rows, .predictions = predictions, .labels = labels});
  EXPECT_LT(html.find("&lt;second>"), html.find("first")) << html;
  EXPECT_LT(html.find("first"), html.find("third"));
  EXPECT_NE(html.find("<td class=\"number\">4</td><td class=\"number\">2</td><td "
                      "class=\"number\">2</td><td class=\"number\">3</td>"),
            std::string::npos);
  EXPECT_NE(html.find("<dt>mean absolute error</dt><dd>0.9167</dd>"), std::string::npos);
  EXPECT_EQ(count(html, "<circle"), 3u);
  EXPECT_NE(html.find("A dot for each row"), std::string::npos);
}

TEST(NumberReportTest, OfManyRowsSomeHaveADot) {
  const std::vector<LabelledText> rows(10'001);
  const std::vector<double> values(10'001, 1.0);
  const std::string html = number_report({.rows = rows, .predictions = values, .labels = values});
  EXPECT_NE(html.find("A dot for one row in 3"), std::string::npos);
  EXPECT_EQ(count(html, "<circle"), 3334u);
}

}  // namespace
}  // namespace cloze::tasks
