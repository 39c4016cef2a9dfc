// The scores of several labels as parts of a page of HTML (formats/html_page.h): scores,
// labels, and the rows with the most wrong labels with their texts.
#pragma once

#include <span>
#include <string>

#include "tasks/labelled/label_set_scores.h"
#include "tasks/labelled/labelled_table.h"

namespace cloze::tasks {

struct ScoredLabelSets {
  std::span<const LabelledText> rows;
  std::span<const LabelSetPrediction> predictions;  // of each row
  std::span<const std::string> names;               // of the labels
  const LabelSetScores& scores;
};

std::string label_set_report(const ScoredLabelSets& scored);

}  // namespace cloze::tasks
