// Several labels at once: each holds where its sigmoid is above kLabelThreshold.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "tasks/labelled/label_problem.h"
#include "tasks/labelled/label_set_report.h"
#include "tasks/labelled/label_set_scores.h"
#include "tasks/logits.h"

namespace cloze::tasks {
namespace {

std::vector<bool> set_of(const LabelTarget& target, size_t num_labels) {
  std::vector<bool> set(num_labels);
  for (const double label : target) set[static_cast<size_t>(label)] = true;
  return set;
}

std::vector<LabelSetPrediction> sets_of(const ScoredRows& scored) {
  std::vector<LabelSetPrediction> rows;
  for (size_t i = 0; i < scored.targets.size(); ++i) {
    const LabelPrediction& predicted = scored.predictions[i];
    rows.push_back({.gold = set_of(scored.targets[i], scored.names.size()),
                    .predicted = set_of(predicted.target, scored.names.size()),
                    .probabilities = predicted.probabilities});
  }
  return rows;
}

formats::Json names_of(const LabelTarget& target, std::span<const std::string> names) {
  auto list = formats::Json::array();
  for (const double label : target) list.push_back(names[static_cast<size_t>(label)]);
  return list;
}

class LabelSetProblem final : public LabelProblem {
 public:
  std::string_view name() const override { return "multilabel"; }
  models::BertHead head() const override {
    return {.kind = models::HeadKind::kSequenceClassification, .is_multi_label = true};
  }
  std::string_view lack() const override { return "predicts no sets of labels"; }

  std::vector<std::string> labels_in(const LabelledTable& table) const override {
    std::vector<std::string> labels = sorted_labels(table);
    if (labels.empty()) {
      throw_user_error("{}: no row has a label in {}", table.file.string(),
                       table.columns.label_column);
    }
    return labels;
  }

  LabelTarget target_of(const LabelledTable& table, const LabelledText& row,
                        std::span<const std::string> names) const override {
    LabelTarget target;
    for (const std::string& label : row.labels) {
      target.push_back(number_of_label(label, table, row, names));
    }
    std::ranges::sort(target);
    target.erase(std::ranges::unique(target).begin(), target.end());
    return target;
  }

  // Rows are alike that share their rarest label: the rarest are those that a part may lack.
  std::vector<int64_t> strata_of(std::span<const LabelTarget> targets) const override {
    std::vector<int64_t> rows_of_label;
    for (const LabelTarget& target : targets) {
      for (const double label : target) {
        rows_of_label.resize(std::max(rows_of_label.size(), static_cast<size_t>(label) + 1));
        ++rows_of_label[static_cast<size_t>(label)];
      }
    }
    std::vector<int64_t> strata;
    for (const LabelTarget& target : targets) {
      const auto rarest = std::ranges::min_element(
          target, {}, [&](double label) { return rows_of_label[static_cast<size_t>(label)]; });
      strata.push_back(rarest == target.end() ? std::ssize(rows_of_label)
                                              : static_cast<int64_t>(*rarest));
    }
    return strata;
  }

  // A prediction, yes or no, for each label. All are of the first token.
  void set_target(const LabelTarget& target, int64_t num_labels,
                  data::Sample& sample) const override {
    sample.masked_positions.assign(static_cast<size_t>(num_labels), 0);
    sample.masked_labels.assign(static_cast<size_t>(num_labels), 0);
    for (const double label : target) sample.masked_labels[static_cast<size_t>(label)] = 1;
  }

  // ln(p / (1 - p)). With half a row more on either side it is finite for a label of all rows, too.
  std::vector<float> first_bias(std::span<const LabelTarget> targets,
                                int64_t num_labels) const override {
    std::vector<double> holds(static_cast<size_t>(num_labels), 0.5);
    for (const LabelTarget& target : targets) {
      for (const double label : target) ++holds[static_cast<size_t>(label)];
    }
    const double rows = static_cast<double>(targets.size()) + 1.0;
    std::vector<float> bias;
    for (const double count : holds) {
      bias.push_back(static_cast<float>(std::log(count / (rows - count))));
    }
    return bias;
  }

  LabelPrediction predict(std::span<const float> logits) const override {
    LabelPrediction prediction;
    for (const float logit : logits) {
      const double probability = sigmoid(logit);
      if (probability > kLabelThreshold) {
        prediction.target.push_back(static_cast<double>(prediction.probabilities.size()));
      }
      prediction.probabilities.push_back(probability);
    }
    return prediction;
  }

  NamedScores score(const ScoredRows& scored) const override {
    const LabelSetScores all = score_label_sets(sets_of(scored));
    return {.printed = {{"micro F1", all.means.micro.f1},
                        {"macro F1", all.means.macro.f1},
                        {"LRAP", all.ranking_precision.value_or(0.0)},
                        {"subset accuracy", all.subset_accuracy}},
            .all = label_set_scores_json(all, scored.names)};
  }

  std::string report(const ScoredRows& scored) const override {
    const std::vector<LabelSetPrediction> sets = sets_of(scored);
    return label_set_report({.rows = scored.rows,
                             .predictions = sets,
                             .names = scored.names,
                             .scores = score_label_sets(sets)});
  }

  void add_json(const LabelTarget& target, const LabelPrediction& prediction,
                std::span<const std::string> names, formats::Json& line) const override {
    line["label"] = names_of(target, names);
    line["predicted"] = names_of(prediction.target, names);
    line["probabilities"] = formats::Json::object();
    for (size_t i = 0; i < names.size(); ++i) {
      line["probabilities"][names[i]] = prediction.probabilities[i];
    }
  }

  std::string answer(const LabelTarget& target, const LabelledText& /*row*/,
                     std::span<const std::string> names) const override {
    return target.size() == 1 ? names[static_cast<size_t>(target.front())] : "";
  }
};

}  // namespace

std::unique_ptr<LabelProblem> label_set_problem() { return std::make_unique<LabelSetProblem>(); }

}  // namespace cloze::tasks
