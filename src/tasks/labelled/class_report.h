// The scores of a classifier as parts of a page of HTML (formats/html_page.h, with kPlotStyle):
// scores, classes, confusions, calibration, and the most confident mistakes with their texts.
#pragma once

#include <span>
#include <string>

#include "tasks/labelled/class_scores.h"
#include "tasks/labelled/labelled_table.h"

namespace cloze::tasks {

struct ScoredClasses {
  std::span<const LabelledText> rows;
  std::span<const ClassPrediction> predictions;  // of each row
  std::span<const std::string> names;            // of the classes
  const ClassScores& scores;
};

std::string class_report(const ScoredClasses& scored);

}  // namespace cloze::tasks
