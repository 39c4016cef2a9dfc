#include "formats/html_page.h"

#include <fmt/format.h>

#include "formats/markup.h"

namespace cloze::formats {
namespace {

// Wide things scroll on a narrow screen and shrink on paper.
constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--text:#1c2228;--back:#fff;--line:#d4dae0;--soft:#5d6872}
@media(prefers-color-scheme:dark){:root{--text:#e4e8ec;--back:#14181c;--line:#39424b;--soft:#9aa5b0}}
body{font:15px/1.45 system-ui,sans-serif;color:var(--text);background:var(--back);margin:0 auto;max-width:1000px;padding:16px}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
.wide{overflow-x:auto}svg{min-width:680px;width:100%;display:block}
svg text{font:13px system-ui,sans-serif;fill:var(--text)}svg.small text{font-size:10px}
.grid{stroke:var(--text);stroke-opacity:.16}.border{stroke:var(--text);stroke-opacity:.5}
table{border-collapse:collapse;width:100%;font-size:.87rem;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:2px 8px;border-bottom:1px solid var(--line);vertical-align:top}
th{position:sticky;top:0;background:var(--back)}.number{text-align:right;white-space:nowrap}
.text{min-width:22em}summary{cursor:pointer}p{max-width:46rem}
)";
constexpr const char* kPrint = R"(
@media print{body{max-width:none;padding:0;font-size:11px}svg{min-width:0}.wide{overflow:visible}th{position:static}
.color,svg path,svg rect{print-color-adjust:exact;-webkit-print-color-adjust:exact}h2{break-after:avoid}tr,svg{break-inside:avoid}}
)";

}  // namespace

HtmlTable::HtmlTable(std::vector<HtmlColumn> columns) : columns_(std::move(columns)) {
  html_ = "<div class=\"wide\"><table>\n<thead><tr>";
  for (const HtmlColumn& column : columns_) add_cell("th", column, escaped_markup(column.name));
  html_ += "</tr></thead>\n<tbody>\n";
}

void HtmlTable::add(const std::vector<std::string>& cells) {
  html_ += "<tr>";
  for (size_t i = 0; i < cells.size(); ++i) add_cell("td", columns_[i], cells[i]);
  html_ += "</tr>\n";
}

void HtmlTable::add_cell(const char* tag, const HtmlColumn& column, std::string_view cell) {
  html_ += fmt::format("<{0}{1}>{2}</{0}>", tag, column.is_number ? " class=\"number\"" : "", cell);
}

std::string html_facts(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string html = "<dl>\n";
  for (const auto& [name, value] : facts) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped_markup(name), escaped_markup(value));
  }
  return html + "</dl>\n";
}

std::string html_picture(std::string_view svg) {
  return fmt::format("<div class=\"wide\">{}</div>\n", svg);
}

std::string html_page(const HtmlPage& page) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<title>{0}</title>\n<style>{1}{2}{3}</style>\n</head>\n<body>\n<h1>{0}</h1>\n{4}"
      "</body>\n</html>\n",
      escaped_markup(page.title), kStyle, page.style, kPrint, page.body);
}

std::string svg_text(const SvgText& place, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", place.x,
                     place.y, place.anchor, escaped_markup(text));
}

}  // namespace cloze::formats
