#include "tasks/labelled/label_set_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "tasks/labelled/row_table.h"

namespace cloze::tasks {
namespace {

constexpr size_t kMostRows = 30;

std::string scores_part(const ScoredLabelSets& scored) {
  const LabelSetScores& scores = scored.scores;
  std::vector<std::pair<std::string, double>> facts{
      {"micro F1", scores.means.micro.f1},
      {"macro F1", scores.means.macro.f1},
      {"rows with all labels right", scores.subset_accuracy},
      {"wrong decisions (Hamming loss)", scores.hamming_loss}};
  if (scores.ranking_precision) {
    facts.emplace_back("average precision of the ranking", *scores.ranking_precision);
  }
  std::vector<NamedPrecisionRecall> labels;
  for (size_t i = 0; i < scored.names.size(); ++i)
    labels.push_back({scored.names[i], scores.labels[i]});
  return heading("Scores") + score_facts(facts) +
         precision_recall_table("label", std::move(labels),
                                {{"micro mean", scores.means.micro},
                                 {"macro mean", scores.means.macro},
                                 {"weighted mean", scores.means.weighted},
                                 {"mean of the rows", scores.samples}});
}

// The labels that are in one set and not in the other.
std::string difference(const std::vector<bool>& set, const std::vector<bool>& other,
                       std::span<const std::string> names) {
  std::vector<std::string> labels;
  for (size_t i = 0; i < names.size(); ++i) {
    if (set[i] && !other[i]) labels.push_back(text_cell(names[i]));
  }
  return fmt::format("{}", fmt::join(labels, ", "));
}

size_t num_wrong(const LabelSetPrediction& row) {
  size_t wrong = 0;
  for (size_t i = 0; i < row.gold.size(); ++i) wrong += row.gold[i] != row.predicted[i] ? 1 : 0;
  return wrong;
}

std::string rows_part(const ScoredLabelSets& scored) {
  std::vector<size_t> wrong;
  for (size_t i = 0; i < scored.predictions.size(); ++i) {
    if (num_wrong(scored.predictions[i]) > 0) wrong.push_back(i);
  }
  if (wrong.empty()) return heading("Mistakes") + paragraph("There is none.");
  std::ranges::stable_sort(wrong, std::greater<>(),
                           [&](size_t i) { return num_wrong(scored.predictions[i]); });
  RowTable table({{"missed"}, {"wrongly predicted"}});
  for (size_t i = 0; i < std::min(wrong.size(), kMostRows); ++i) {
    const LabelSetPrediction& row = scored.predictions[wrong[i]];
    table.add({difference(row.gold, row.predicted, scored.names),
               difference(row.predicted, row.gold, scored.names)},
              scored.rows[wrong[i]]);
  }
  return heading("Rows with the most wrong labels") +
         paragraph(
             fmt::format("{} of {} rows have a wrong label.", wrong.size(), scored.rows.size())) +
         table.html();
}

}  // namespace

std::string label_set_report(const ScoredLabelSets& scored) {
  return scores_part(scored) + rows_part(scored);
}

}  // namespace cloze::tasks
