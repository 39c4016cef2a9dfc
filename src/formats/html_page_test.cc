#include "formats/html_page.h"

#include <gtest/gtest.h>

namespace cloze::formats {
namespace {

TEST(HtmlPageTest, NamesAreTextAndCellsAreHtml) {
  HtmlTable table({{"a < b"}, {"rows", true}});
  table.add({"<b>x</b>", "7"});
  const std::string html = table.html();
  EXPECT_NE(html.find("<th>a &lt; b</th><th class=\"number\">rows</th>"), std::string::npos);
  EXPECT_NE(html.find("<tr><td><b>x</b></td><td class=\"number\">7</td></tr>"), std::string::npos);
  EXPECT_EQ(html_facts({{"a&b", "<c>"}}), "<dl>\n<dt>a&amp;b</dt><dd>&lt;c></dd>\n</dl>\n");
  EXPECT_EQ(svg_text({1, 2, "end"}, "<"),
            "<text x=\"1.0\" y=\"2.0\" text-anchor=\"end\">&lt;</text>\n");
}

TEST(HtmlPageTest, NeedsNothingFromElsewhere) {
  const std::string html = html_page({.title = "A & B", .style = ".x{}", .body = "<p>c</p>\n"});
  EXPECT_NE(html.find("<title>A &amp; B</title>"), std::string::npos);
  EXPECT_NE(html.find(".x{}"), std::string::npos);
  EXPECT_NE(html.find("<h1>A &amp; B</h1>\n<p>c</p>\n</body>"), std::string::npos);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos);
}

}  // namespace
}  // namespace cloze::formats
