#include "tasks/labelled/label_set_report.h"

#include <gtest/gtest.h>

namespace cloze::tasks {
namespace {

TEST(LabelSetReportTest, TheRowWithTheMostWrongLabelsIsFirst) {
  const std::vector<std::string> names{"a", "<b>", "c"};
  const std::vector<LabelledText> rows{{.text = "one wrong", .line = 2},
                                       {.text = "two wrong", .line = 3},
                                       {.text = "right", .line = 4}};
  const std::vector<LabelSetPrediction> predictions{
      {{true, true, false}, {true, true, true}, {}},
      {{true, true, false}, {false, false, false}, {}},
      {{false, false, true}, {false, false, true}, {}}};
  const LabelSetScores scores = score_label_sets(predictions);
  const std::string html = label_set_report(
      {.rows = rows, .predictions = predictions, .names = names, .scores = scores});
  const size_t two = html.find("<td>a, &lt;b></td><td></td><td class=\"number\">3</td>");
  const size_t one = html.find("<td></td><td>c</td><td class=\"number\">2</td>");
  EXPECT_LT(two, one) << html;
  EXPECT_NE(one, std::string::npos);
  EXPECT_EQ(html.find("right</div>"), std::string::npos);
  EXPECT_NE(html.find("2 of 3 rows have a wrong label."), std::string::npos);
  EXPECT_NE(html.find("<dt>rows with all labels right</dt><dd>0.3333</dd>"), std::string::npos);
  EXPECT_NE(html.find("<td>mean of the rows</td>"), std::string::npos);
  EXPECT_EQ(html.find("ranking"), std::string::npos);
}

TEST(LabelSetReportTest, WithoutMistakesItSaysSo) {
  const std::vector<std::string> names{"a"};
  const std::vector<LabelledText> rows{{.text = "x", .line = 1}};
  const std::vector<LabelSetPrediction> predictions{{{true}, {true}, {0.9}}};
  const LabelSetScores scores = score_label_sets(predictions);
  const std::string html = label_set_report(
      {.rows = rows, .predictions = predictions, .names = names, .scores = scores});
  EXPECT_NE(html.find("There is none."), std::string::npos);
  EXPECT_NE(html.find("<dt>average precision of the ranking</dt><dd>1.0000</dd>"),
            std::string::npos);
}

}  // namespace
}  // namespace cloze::tasks
