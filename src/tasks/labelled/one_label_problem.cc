// Classification: softmax over the labels, of which one holds.
#include <algorithm>

#include "base/error.h"
#include "tasks/labelled/class_report.h"
#include "tasks/labelled/class_scores.h"
#include "tasks/labelled/label_problem.h"
#include "tasks/logits.h"
#include "tasks/report/confusion.h"

namespace cloze::tasks {
namespace {

size_t class_of(const LabelTarget& target) { return static_cast<size_t>(target.front()); }

// More classes are too many for a line of a terminal.
constexpr size_t kMostClassesOfLines = 8;

std::vector<ClassPrediction> predicted_classes(const ScoredRows& scored) {
  std::vector<ClassPrediction> rows;
  for (size_t i = 0; i < scored.targets.size(); ++i) {
    const LabelPrediction& predicted = scored.predictions[i];
    rows.push_back({.label = static_cast<int64_t>(scored.targets[i].front()),
                    .predicted = static_cast<int64_t>(predicted.target.front()),
                    .probability = predicted.probabilities[class_of(predicted.target)]});
  }
  return rows;
}

class OneLabelProblem final : public LabelProblem {
 public:
  std::string_view name() const override { return "classify"; }
  std::string_view lack() const override { return "is no classifier"; }

  std::vector<std::string> labels_in(const LabelledTable& table) const override {
    std::vector<std::string> labels = sorted_labels(table);
    if (labels.size() < 2) {
      throw_user_error("{}: all {} rows have the label {}; a classifier needs two classes or more",
                       table.file.string(), table.rows.size(), labels.front());
    }
    return labels;
  }

  LabelTarget target_of(const LabelledTable& table, const LabelledText& row,
                        std::span<const std::string> names) const override {
    return {number_of_label(row.labels.front(), table, row, names)};
  }

  std::vector<int64_t> strata_of(std::span<const LabelTarget> targets) const override {
    std::vector<int64_t> strata;
    for (const LabelTarget& target : targets) {
      strata.push_back(static_cast<int64_t>(target.front()));
    }
    return strata;
  }

  void set_target(const LabelTarget& target, int64_t /*num_labels*/,
                  data::Sample& sample) const override {
    sample.class_label = static_cast<int32_t>(target.front());
  }

  LabelPrediction predict(std::span<const float> logits) const override {
    const auto largest = std::ranges::max_element(logits) - logits.begin();
    return {.target = {static_cast<double>(largest)}, .probabilities = softmax(logits)};
  }

  NamedScores score(const ScoredRows& scored) const override {
    const ClassScores all = score_classes(predicted_classes(scored), std::ssize(scored.names));
    NamedScores scores{.printed = {{"accuracy", all.accuracy},
                                   {"macro F1", all.macro.f1},
                                   {"weighted F1", all.weighted.f1}},
                       .all = class_scores_json(all, scored.names)};
    if (scored.names.size() <= kMostClassesOfLines) {
      scores.lines = confusion_lines({.names = scored.names, .rows = all.confusion});
      scores.lines.insert(scores.lines.begin(), "labels (lines) and predicted classes (columns):");
    }
    return scores;
  }

  std::string report(const ScoredRows& scored) const override {
    const std::vector<ClassPrediction> rows = predicted_classes(scored);
    return class_report({.rows = scored.rows,
                         .predictions = rows,
                         .names = scored.names,
                         .scores = score_classes(rows, std::ssize(scored.names))});
  }

  void add_json(const LabelTarget& target, const LabelPrediction& prediction,
                std::span<const std::string> names, formats::Json& line) const override {
    line["label"] = names[class_of(target)];
    line["predicted"] = names[class_of(prediction.target)];
    line["probability"] = prediction.probabilities[class_of(prediction.target)];
  }

  std::string answer(const LabelTarget& target, const LabelledText& /*row*/,
                     std::span<const std::string> names) const override {
    return names[class_of(target)];
  }
};

}  // namespace

std::unique_ptr<LabelProblem> one_label_problem() { return std::make_unique<OneLabelProblem>(); }

}  // namespace cloze::tasks
