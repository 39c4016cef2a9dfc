#include "tasks/labelled/label_problem.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "tasks/labelled/label_file.h"

namespace cloze::tasks {

std::vector<std::string> sorted_labels(const LabelledTable& table) {
  std::set<std::string> names;
  for (const LabelledText& row : table.rows) names.insert(row.labels.begin(), row.labels.end());
  return ordered_labels(names);
}

double number_of_label(const std::string& label, const LabelledTable& table,
                       const LabelledText& row, std::span<const std::string> names) {
  const auto found = std::ranges::find(names, label);
  if (found == names.end()) {
    refuse_label(label, table, row, fmt::format("one of {}", fmt::join(names, ", ")));
  }
  return static_cast<double>(found - names.begin());
}

void refuse_label(const std::string& label, const LabelledTable& table, const LabelledText& row,
                  const std::string& must) {
  throw_data_error("{}:{}: label '{}' in {}; it must be {}", table.file.string(), row.line, label,
                   table.columns.label_column, must);
}

}  // namespace cloze::tasks
