#include "tasks/labelled/class_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "formats/html_page.h"
#include "formats/plot.h"
#include "tasks/labelled/row_table.h"
#include "tasks/report/confusion.h"
#include "tasks/report/score_parts.h"

namespace cloze::tasks {
namespace {

constexpr size_t kMostConfusions = 20, kMostMistakes = 30;
// A wider table of all numbers would be of no use.
constexpr size_t kMostClassesOfTable = 100;

std::string scores_part(const ClassScores& scores) {
  return heading("Scores") +
         score_facts({{"accuracy", scores.accuracy},
                      {"macro F1", scores.macro.f1},
                      {"weighted F1", scores.weighted.f1},
                      {"Matthews' correlation", scores.matthews},
                      {"calibration error", scores.calibration_error}});
}

std::string classes_part(const ScoredClasses& scored) {
  const ClassScores& scores = scored.scores;
  std::vector<NamedPrecisionRecall> classes;
  for (size_t i = 0; i < scored.names.size(); ++i) {
    classes.push_back({scored.names[i], scores.classes[i]});
  }
  return heading("Classes, the hardest first") +
         precision_recall_table("class", std::move(classes),
                                {{"macro mean", scores.macro}, {"weighted mean", scores.weighted}});
}

std::string confusion_part(const ScoredClasses& scored) {
  const Confusion confusion{.names = scored.names, .rows = scored.scores.confusion};
  std::string html = heading("Confusion matrix") +
                     paragraph("A row for each label, a column for each predicted class.") +
                     formats::html_picture(confusion_picture(confusion));
  if (scored.scores.accuracy < 1.0) {
    html += heading("Most frequent confusions") + confusions_table(confusion, kMostConfusions);
  }
  if (scored.names.size() <= kMostClassesOfTable) html += confusion_table(confusion);
  return html;
}

std::string calibration_part(const ScoredClasses& scored) {
  const std::vector<CalibrationBin> bins = calibration_bins(scored.predictions);
  const formats::PlotArea area({"probability of the predicted class", 0, 1}, {"accuracy", 0, 1});
  std::string drawn = area.line({{0, 0}, {1, 1}}, "ideal");
  for (size_t i = 0; i < bins.size(); ++i) {
    if (bins[i].rows == 0) continue;
    const auto width = 1.0 / static_cast<double>(bins.size());
    const double low = width * static_cast<double>(i);
    drawn += area.rectangle({low + 0.1 * width, 0}, {low + 0.9 * width, bins[i].accuracy}, "bar",
                            fmt::format("{} rows: accuracy {:.3f}, mean probability {:.3f}",
                                        bins[i].rows, bins[i].accuracy, bins[i].confidence));
  }
  return heading("Calibration") +
         paragraph(
             "A bar is the accuracy of the rows whose predicted class is about as probable. Bars "
             "that end at the dashed line belong to probabilities that can be taken at their word; "
             "bars below it, to a model that is too sure.") +
         formats::html_picture(area.svg("Calibration", drawn));
}

std::string mistakes_of(const ScoredClasses& scored) {
  std::vector<size_t> wrong;
  for (size_t i = 0; i < scored.predictions.size(); ++i) {
    if (scored.predictions[i].predicted != scored.predictions[i].label) wrong.push_back(i);
  }
  std::ranges::stable_sort(wrong, std::greater<>(),
                           [&](size_t i) { return scored.predictions[i].probability; });
  const auto name = [&](int64_t number) {
    return text_cell(scored.names[static_cast<size_t>(number)]);
  };
  RowTable table({{"probability", true}, {"predicted"}, {"label"}});
  for (size_t i = 0; i < std::min(wrong.size(), kMostMistakes); ++i) {
    const ClassPrediction& one = scored.predictions[wrong[i]];
    table.add({score_text(one.probability), name(one.predicted), name(one.label)},
              scored.rows[wrong[i]]);
  }
  return mistakes_part(table, wrong.size(), scored.rows.size());
}

}  // namespace

std::string class_report(const ScoredClasses& scored) {
  return scores_part(scored.scores) + confusion_part(scored) + mistakes_of(scored) +
         classes_part(scored) + calibration_part(scored);
}

}  // namespace cloze::tasks
