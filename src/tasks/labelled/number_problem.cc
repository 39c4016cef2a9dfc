// Regression: a number for each text.
#include <cmath>

#include "base/whole_number.h"
#include "tasks/label_scores.h"
#include "tasks/labelled/label_problem.h"
#include "tasks/labelled/number_report.h"

namespace cloze::tasks {
namespace {

struct Numbers {
  std::vector<double> labels, predicted;
};

Numbers numbers_of(const ScoredRows& scored) {
  Numbers numbers;
  for (size_t i = 0; i < scored.targets.size(); ++i) {
    numbers.labels.push_back(scored.targets[i].front());
    numbers.predicted.push_back(scored.predictions[i].target.front());
  }
  return numbers;
}

class NumberProblem final : public LabelProblem {
 public:
  std::string_view name() const override { return "regress"; }
  bool is_regression() const override { return true; }
  std::string_view lack() const override { return "predicts no number"; }

  std::vector<std::string> labels_in(const LabelledTable& /*table*/) const override {
    return {"score"};
  }

  LabelTarget target_of(const LabelledTable& table, const LabelledText& row,
                        std::span<const std::string> /*names*/) const override {
    const std::string& label = row.labels.front();
    const auto number = number_in<double>(label);
    if (!number || !std::isfinite(*number)) refuse_label(label, table, row, "a number");
    return {*number};
  }

  std::vector<int64_t> strata_of(std::span<const LabelTarget> targets) const override {
    return std::vector<int64_t>(targets.size());
  }

  void set_target(const LabelTarget& target, int64_t /*num_labels*/,
                  data::Sample& sample) const override {
    sample.score = static_cast<float>(target.front());
  }

  // The mean.
  std::vector<float> first_bias(std::span<const LabelTarget> targets,
                                int64_t /*num_labels*/) const override {
    double sum = 0.0;
    for (const LabelTarget& target : targets) sum += target.front();
    return {static_cast<float>(sum / static_cast<double>(targets.size()))};
  }

  LabelPrediction predict(std::span<const float> logits) const override {
    return {.target = {logits.front()}, .probabilities = {}};
  }

  NamedScores score(const ScoredRows& scored) const override {
    const auto [labels, predicted] = numbers_of(scored);
    NamedScores scores;
    scores.printed = {{"pearson", pearson(predicted, labels)},
                      {"spearman", spearman(predicted, labels)}};
    for (const auto& [name, value] : scores.printed) scores.all[name] = value;
    return scores;
  }

  std::string report(const ScoredRows& scored) const override {
    const auto [labels, predicted] = numbers_of(scored);
    return number_report({.rows = scored.rows, .predictions = predicted, .labels = labels});
  }

  void add_json(const LabelTarget& target, const LabelPrediction& prediction,
                std::span<const std::string> /*names*/, formats::Json& line) const override {
    line["label"] = target.front();
    line["predicted"] = prediction.target.front();
  }

  std::string answer(const LabelTarget& /*target*/, const LabelledText& /*row*/,
                     std::span<const std::string> /*names*/) const override {
    return "";
  }
};

}  // namespace

std::unique_ptr<LabelProblem> number_problem() { return std::make_unique<NumberProblem>(); }

}  // namespace cloze::tasks
