// A table of rows of a user's table in a report: what was said of each, its line and its texts.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "formats/html_page.h"
#include "tasks/labelled/labelled_table.h"
#include "tasks/report/score_parts.h"

namespace cloze::tasks {

class RowTable {
 public:
  explicit RowTable(std::vector<formats::HtmlColumn> columns)
      : table_(with_text(std::move(columns))) {}

  // Cells in HTML, as many as columns were given.
  void add(std::vector<std::string> cells, const LabelledText& row) {
    cells.push_back(std::to_string(row.line));
    std::string text = text_cell(row.text);
    if (!row.pair.empty()) text += "<br/>" + text_cell(row.pair);
    cells.push_back("<div class=\"text\">" + text + "</div>");
    table_.add(cells);
  }
  std::string html() const { return table_.html(); }

 private:
  static std::vector<formats::HtmlColumn> with_text(std::vector<formats::HtmlColumn> columns) {
    columns.push_back({"line", true});
    columns.push_back({"text"});
    return columns;
  }
  formats::HtmlTable table_;
};

// The part with the most confident mistakes of a model that gives each row one answer.
inline std::string mistakes_part(const RowTable& most_confident, size_t wrong, size_t rows) {
  if (wrong == 0) return heading("Mistakes") + paragraph("There is none.");
  return heading("Most confident mistakes") +
         paragraph(fmt::format("{} of {} rows are wrong.", wrong, rows)) + most_confident.html();
}

}  // namespace cloze::tasks
