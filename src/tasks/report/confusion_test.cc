#include "tasks/report/confusion.h"

#include <gtest/gtest.h>

namespace cloze::tasks {
namespace {

const std::vector<std::string> kNames{"card", "<é>",
                                      "very long name of a class, longer than others"};
const std::vector<std::vector<int64_t>> kRows{{120, 0, 3}, {0, 7, 0}, {2, 0, 0}};
const Confusion kConfusion{kNames, kRows};

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(ConfusionTest, LinesOfATerminal) {
  const std::vector<std::string> lines = confusion_lines(kConfusion);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "                               card  <é>  very lo…");
  EXPECT_EQ(lines[1], "                         card   120    0         3");
  EXPECT_EQ(lines[2], "                          <é>     0    7         0");
  EXPECT_EQ(lines[3], "very long name of a class, l…     2    0         0");
}

TEST(ConfusionTest, PictureHasWhatOccurs) {
  const std::string svg = confusion_picture(kConfusion);
  EXPECT_EQ(count(svg, "<title>"), 4u);
  EXPECT_NE(svg.find("<title>card taken for very long name"), std::string::npos) << svg;
  EXPECT_NE(svg.find(": 3 of 123</title>"), std::string::npos);
  EXPECT_NE(svg.find("<title>&lt;é> taken for &lt;é>: 7 of 7</title>"), std::string::npos);
  EXPECT_NE(svg.find(">120</text>"), std::string::npos);
}

TEST(ConfusionTest, PictureOfManyClassesHasNoNumbersInItsCells) {
  const std::vector<std::string> names(77, "name");
  std::vector<std::vector<int64_t>> rows(77, std::vector<int64_t>(77));
  for (size_t i = 0; i < rows.size(); ++i) rows[i][i] = 40;
  const std::string svg = confusion_picture({names, rows});
  EXPECT_EQ(count(svg, "<text"), 2u * 77);
  EXPECT_EQ(count(svg, "40 of 40</title>"), 77u);
}

TEST(ConfusionTest, TablesOfPairsAndOfNumbers) {
  const std::string pairs = confusions_table(kConfusion, 1);
  EXPECT_NE(pairs.find("<td>card</td>"), std::string::npos);
  EXPECT_NE(pairs.find("<td class=\"number\">3</td><td class=\"number\">2.4 %</td>"),
            std::string::npos)
      << pairs;
  EXPECT_EQ(count(pairs, "<tr>"), 2u);
  EXPECT_EQ(count(confusions_table(kConfusion, 9), "<tr>"), 3u);
  EXPECT_NE(confusion_table(kConfusion).find("<td>&lt;é></td><td class=\"number\"></td>"),
            std::string::npos);
}

}  // namespace
}  // namespace cloze::tasks
