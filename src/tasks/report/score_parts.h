// Parts of a report that all kinds of labels share: headings, tables of scores, texts.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tasks/precision_recall.h"

namespace cloze::tasks {

// The first `most` code points, with … if there are more; control characters as spaces. For valid
// UTF-8.
std::string shortened(std::string_view text, size_t most);
// The same as HTML, for a cell: at most 500 code points.
std::string text_cell(std::string_view text);

std::string heading(std::string_view text);
std::string paragraph(std::string_view text);

// "0.9012".
std::string score_text(double score);
// Names and scores.
std::string score_facts(const std::vector<std::pair<std::string, double>>& scores);

struct NamedPrecisionRecall {
  std::string name;
  PrecisionRecall scores;
};
// A row for each with precision, recall, F1 and support, the lowest F1 first; then the means, as
// they come. `what` is the heading of the names: "class".
std::string precision_recall_table(std::string what, std::vector<NamedPrecisionRecall> rows,
                                   const std::vector<NamedPrecisionRecall>& means);

}  // namespace cloze::tasks
