// A page of HTML that needs nothing from elsewhere: no script, no file, no font. It reads in light
// and in dark, on paper and on a narrow screen, and is well-formed XML.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cloze::formats {

struct HtmlColumn {
  std::string name;  // text
  bool is_number = false;
};

// Scrolls where it is wider than the screen.
class HtmlTable {
 public:
  explicit HtmlTable(std::vector<HtmlColumn> columns);
  // Adds a row: as many cells as columns, in HTML. A <div> of the class "text" has a text's width.
  void add(const std::vector<std::string>& cells);
  std::string html() const { return html_ + "</tbody></table></div>\n"; }

 private:
  void add_cell(const char* tag, const HtmlColumn& column, std::string_view cell);
  std::vector<HtmlColumn> columns_;
  std::string html_;
};

// Names and values, both text.
std::string html_facts(const std::vector<std::pair<std::string, std::string>>& facts);

// A picture that scrolls where it is wider than the screen. An <svg> of the class "small" has small
// letters.
std::string html_picture(std::string_view svg);

struct HtmlPage {
  std::string title;  // text: also the heading
  std::string style;  // rules of CSS beside those of every page
  std::string body;   // HTML
};
std::string html_page(const HtmlPage& page);

// A <text> element of a picture; anchor: start, middle or end.
struct SvgText {
  double x = 0.0, y = 0.0;  // user units; y of the base line
  const char* anchor = "start";
};
std::string svg_text(const SvgText& place, std::string_view text);

}  // namespace cloze::formats
