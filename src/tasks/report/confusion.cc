#include "tasks/report/confusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "formats/html_page.h"
#include "formats/markup.h"
#include "tasks/report/score_parts.h"
#include "text/utf8.h"

namespace cloze::tasks {
namespace {

using formats::escaped_markup;

constexpr size_t kMostOfName = 28, kMostOfColumnName = 7;

int64_t total(const std::vector<int64_t>& row) {
  return std::accumulate(row.begin(), row.end(), int64_t{0});
}

// Spaces before a text make it `width` code points wide.
std::string right_aligned(const std::string& text, size_t width) {
  const size_t size = text::count_code_points(text);
  return std::string(width > size ? width - size : 0, ' ') + text;
}

// Sizes in user units, and classes that share them.
class Picture {
 public:
  explicit Picture(const Confusion& confusion) : confusion_(confusion) {
    const size_t classes = confusion.names.size();
    cell_ = classes <= 12 ? 48 : classes <= 30 ? 28 : 14;
    size_t longest = 0;
    for (const std::string& name : confusion.names) {
      longest = std::max(longest, text::count_code_points(shortened(name, kMostOfName)));
    }
    margin_ = 16 + (is_small() ? 6.2 : 7.4) * static_cast<double>(longest);
  }

  std::string svg() const {
    const double grid = cell_ * static_cast<double>(confusion_.names.size());
    std::string svg = fmt::format(
        "<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" style=\"max-width:{0:.0f}px;min-width:{2:.0f}px\" "
        "class=\"{3}\" role=\"img\" aria-label=\"Confusion matrix\">\n",
        margin_ + grid + 8, margin_ + grid + 8, std::min(margin_ + grid, 680.0),
        is_small() ? "small" : "");
    svg += fmt::format(
        "<rect x=\"{0:.1f}\" y=\"{0:.1f}\" width=\"{1}\" height=\"{1}\" "
        "fill=\"none\" class=\"grid\"/>\n",
        margin_, grid);
    for (size_t i = 0; i < confusion_.names.size(); ++i) svg += names(i) + cells(i);
    return svg + "</svg>\n";
  }

 private:
  bool is_small() const { return cell_ < 20; }
  double at(size_t i) const { return margin_ + cell_ * static_cast<double>(i); }

  // At the left, and at the top, where it runs upwards.
  std::string names(size_t i) const {
    const std::string name = escaped_markup(shortened(confusion_.names[i], kMostOfName));
    const double middle = at(i) + cell_ / 2 + 4;
    return fmt::format(
        "<text x=\"{0:.1f}\" y=\"{1:.1f}\" text-anchor=\"end\">{2}</text>"
        "<text transform=\"translate({1:.1f} {0:.1f}) rotate(-90)\">{2}</text>\n",
        margin_ - 6, middle, name);
  }

  std::string cells(size_t label) const {
    const std::vector<int64_t>& row = confusion_.rows[label];
    const auto all = static_cast<double>(total(row));
    std::string svg;
    for (size_t predicted = 0; predicted < row.size(); ++predicted) {
      if (row[predicted] == 0) continue;
      // The root keeps what is rare visible.
      const double opacity = std::sqrt(static_cast<double>(row[predicted]) / all);
      svg += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" fill=\"{}\" "
          "fill-opacity=\"{:.3f}\"><title>{} taken for {}: {} of {}</title></rect>\n",
          at(predicted), at(label), cell_ - 1, cell_ - 1,
          label == predicted ? "#5576b8" : "#d9662b", opacity,
          escaped_markup(confusion_.names[label]), escaped_markup(confusion_.names[predicted]),
          row[predicted], total(row));
      if (!is_small()) {
        svg += formats::svg_text({at(predicted) + cell_ / 2, at(label) + cell_ / 2 + 4, "middle"},
                                 std::to_string(row[predicted]));
      }
    }
    return svg;
  }

  const Confusion& confusion_;
  double cell_ = 0.0;
  double margin_ = 0.0;  // for the names, at the left and at the top
};

}  // namespace

std::vector<std::string> confusion_lines(const Confusion& confusion) {
  const auto name = [&](size_t i) { return shortened(confusion.names[i], kMostOfName); };
  const auto column = [&](size_t i) { return shortened(confusion.names[i], kMostOfColumnName); };
  size_t name_width = 0;
  std::vector<size_t> widths;
  for (size_t i = 0; i < confusion.names.size(); ++i) {
    name_width = std::max(name_width, text::count_code_points(name(i)));
    size_t width = text::count_code_points(column(i));
    for (const std::vector<int64_t>& row : confusion.rows) {
      width = std::max(width, std::to_string(row[i]).size());
    }
    widths.push_back(width);
  }
  std::vector<std::string> lines{std::string(name_width, ' ')};
  for (size_t i = 0; i < widths.size(); ++i) {
    lines.front() += "  " + right_aligned(column(i), widths[i]);
    std::string& line = lines.emplace_back(right_aligned(name(i), name_width));
    for (size_t j = 0; j < widths.size(); ++j) {
      line += "  " + right_aligned(std::to_string(confusion.rows[i][j]), widths[j]);
    }
  }
  return lines;
}

std::string confusion_picture(const Confusion& confusion) { return Picture(confusion).svg(); }

std::string confusions_table(const Confusion& confusion, size_t most) {
  struct Pair {
    size_t label = 0, predicted = 0;
    int64_t count = 0;
  };
  std::vector<Pair> pairs;
  for (size_t label = 0; label < confusion.rows.size(); ++label) {
    for (size_t predicted = 0; predicted < confusion.rows.size(); ++predicted) {
      const int64_t count = confusion.rows[label][predicted];
      if (count > 0 && label != predicted) pairs.push_back({label, predicted, count});
    }
  }
  std::ranges::stable_sort(pairs, std::greater<>(), &Pair::count);
  formats::HtmlTable table({{"label"}, {"taken for"}, {"rows", true}, {"of the label's", true}});
  for (size_t i = 0; i < std::min(most, pairs.size()); ++i) {
    const auto& [label, predicted, count] = pairs[i];
    const int64_t all = total(confusion.rows[label]);
    table.add(
        {text_cell(confusion.names[label]), text_cell(confusion.names[predicted]),
         std::to_string(count),
         fmt::format("{:.1f} %", 100.0 * static_cast<double>(count) / static_cast<double>(all))});
  }
  return table.html();
}

std::string confusion_table(const Confusion& confusion) {
  std::vector<formats::HtmlColumn> columns{{"label"}};
  for (const std::string& name : confusion.names) {
    columns.push_back({shortened(name, kMostOfName), true});
  }
  formats::HtmlTable table(columns);
  for (size_t i = 0; i < confusion.rows.size(); ++i) {
    std::vector<std::string> cells{text_cell(confusion.names[i])};
    for (const int64_t count : confusion.rows[i]) {
      cells.push_back(count == 0 ? "" : std::to_string(count));
    }
    table.add(cells);
  }
  return "<details><summary>All numbers</summary>\n" + table.html() + "</details>\n";
}

}  // namespace cloze::tasks
