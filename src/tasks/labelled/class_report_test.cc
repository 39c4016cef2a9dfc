#include "tasks/labelled/class_report.h"

#include <gtest/gtest.h>

namespace cloze::tasks {
namespace {

std::string report_of(const std::vector<ClassPrediction>& predictions) {
  const std::vector<std::string> names{"<a>", "b"};
  const std::vector<LabelledText> rows{{.text = "first <text>", .line = 2},
                                       {.text = "second", .pair = "pair & more", .line = 3},
                                       {.text = "third", .line = 5}};
  const ClassScores scores = score_classes(predictions, 2);
  return class_report({.rows = rows, .predictions = predictions, .names = names, .scores = scores});
}

TEST(ClassReportTest, TheMostConfidentMistakeIsFirst) {
  const std::string html = report_of({{0, 1, 0.6}, {1, 0, 0.9}, {1, 1, 0.99}});
  const std::string second =
      "<td class=\"number\">0.9000</td><td>&lt;a></td><td>b</td><td class=\"number\">3</td>"
      "<td><div class=\"text\">second<br/>pair &amp; more</div></td>";
  const std::string first =
      "<td class=\"number\">0.6000</td><td>b</td><td>&lt;a></td><td class=\"number\">2</td>"
      "<td><div class=\"text\">first &lt;text></div></td>";
  EXPECT_LT(html.find(second), html.find(first)) << html;
  EXPECT_NE(html.find(first), std::string::npos);
  EXPECT_EQ(html.find("third"), std::string::npos);
  EXPECT_NE(html.find("2 of 3 rows are wrong."), std::string::npos);
}

TEST(ClassReportTest, HasScoresClassesConfusionsAndCalibration) {
  const std::string html = report_of({{0, 1, 0.6}, {1, 0, 0.9}, {1, 1, 0.99}});
  EXPECT_NE(html.find("<dt>accuracy</dt><dd>0.3333</dd>"), std::string::npos) << html;
  EXPECT_NE(html.find("<td>weighted mean</td>"), std::string::npos);
  EXPECT_NE(html.find("<title>&lt;a> taken for b: 1 of 1</title>"), std::string::npos);
  EXPECT_NE(html.find("<h2>Most frequent confusions</h2>"), std::string::npos);
  EXPECT_NE(html.find("<title>1 rows: accuracy 1.000, mean probability 0.990</title>"),
            std::string::npos);
}

TEST(ClassReportTest, WithoutMistakesItSaysSo) {
  const std::string html = report_of({{0, 0, 0.6}, {1, 1, 0.9}, {1, 1, 0.99}});
  EXPECT_NE(html.find("<h2>Mistakes</h2>\n<p>There is none.</p>"), std::string::npos);
  EXPECT_EQ(html.find("Most frequent confusions"), std::string::npos);
}

}  // namespace
}  // namespace cloze::tasks
