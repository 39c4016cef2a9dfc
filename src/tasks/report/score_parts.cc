#include "tasks/report/score_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/html_page.h"
#include "formats/markup.h"
#include "text/utf8.h"

namespace cloze::tasks {
namespace {

using formats::escaped_markup;

constexpr size_t kMostOfText = 500;

void add_row(formats::HtmlTable& table, const NamedPrecisionRecall& row) {
  table.add({text_cell(row.name), score_text(row.scores.precision), score_text(row.scores.recall),
             score_text(row.scores.f1), std::to_string(row.scores.support)});
}

}  // namespace

std::string shortened(std::string_view text, size_t most) {
  std::string result;
  size_t at = 0;
  for (size_t count = 0; at < text.size() && count < most; ++count) {
    const text::DecodedCodePoint one = text::decode_utf8(text, at);
    result += one.code_point < 0x20 || one.code_point == 0x7F ? " " : text.substr(at, one.bytes);
    at += one.bytes;
  }
  return at < text.size() ? result + "…" : result;
}

std::string text_cell(std::string_view text) {
  return escaped_markup(shortened(text, kMostOfText));
}

std::string heading(std::string_view text) {
  return fmt::format("<h2>{}</h2>\n", escaped_markup(text));
}

std::string paragraph(std::string_view text) {
  return fmt::format("<p>{}</p>\n", escaped_markup(text));
}

std::string score_text(double score) { return fmt::format("{:.4f}", score); }

std::string score_facts(const std::vector<std::pair<std::string, double>>& scores) {
  std::vector<std::pair<std::string, std::string>> facts;
  for (const auto& [name, score] : scores) facts.emplace_back(name, score_text(score));
  return formats::html_facts(facts);
}

std::string precision_recall_table(std::string what, std::vector<NamedPrecisionRecall> rows,
                                   const std::vector<NamedPrecisionRecall>& means) {
  std::ranges::stable_sort(rows, {}, [](const NamedPrecisionRecall& row) { return row.scores.f1; });
  formats::HtmlTable table(
      {{std::move(what)}, {"precision", true}, {"recall", true}, {"F1", true}, {"support", true}});
  for (const NamedPrecisionRecall& row : rows) add_row(table, row);
  for (const NamedPrecisionRecall& row : means) add_row(table, row);
  return table.html();
}

}  // namespace cloze::tasks
