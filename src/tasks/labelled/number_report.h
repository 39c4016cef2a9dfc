// The scores of predicted numbers as parts of a page of HTML (formats/html_page.h, with
// kPlotStyle): correlations, predictions over labels, and the largest errors with their texts.
#pragma once

#include <span>
#include <string>

#include "tasks/labelled/labelled_table.h"

namespace cloze::tasks {

struct ScoredNumbers {
  std::span<const LabelledText> rows;
  std::span<const double> predictions, labels;  // of each row
};

std::string number_report(const ScoredNumbers& scored);

}  // namespace cloze::tasks
