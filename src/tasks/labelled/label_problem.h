// Says what the labels of a table mean: how they are read, learned, predicted and scored. A task of
// `cloze finetune` on a table is one of these:
//
//   classify    one label out of several, by name
//   multilabel  each of several labels holds or not
//   regress     a number
//   choose      the right one of several texts
//
// A target is what a row's labels say, as numbers: the number of its class or of the right choice,
// those of the labels that hold in ascending order, or its value.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/sample.h"
#include "formats/json.h"
#include "models/bert_heads.h"
#include "tasks/finetuning_task.h"
#include "tasks/labelled/labelled_table.h"

namespace cloze::tasks {

using LabelTarget = std::vector<double>;

struct LabelPrediction {
  LabelTarget target;                 // that the model predicts
  std::vector<double> probabilities;  // of each label or choice; none of a number
};

// Rows that were predicted; at least one.
struct ScoredRows {
  std::span<const LabelledText> rows;
  std::span<const LabelTarget> targets;          // of each row
  std::span<const LabelPrediction> predictions;  // of each row
  std::span<const std::string> names;            // of the labels
};

class LabelProblem {
 public:
  virtual ~LabelProblem() = default;

  virtual std::string_view name() const = 0;  // of the task: "classify"
  // The head without labels.
  virtual models::BertHead head() const {
    return {.kind = models::HeadKind::kSequenceClassification};
  }
  virtual bool is_regression() const { return false; }
  // Names the lack of a start model that it cannot score: "is no classifier".
  virtual std::string_view lack() const = 0;
  // The names of what is learned from a table. UserError for a table that teaches nothing.
  virtual std::vector<std::string> labels_in(const LabelledTable& table) const = 0;

  // DataError that names file and line for labels that are none of `names`.
  virtual LabelTarget target_of(const LabelledTable& table, const LabelledText& row,
                                std::span<const std::string> names) const = 0;
  // A number for each row: rows of one number are alike, and each part of the table gets its share.
  virtual std::vector<int64_t> strata_of(std::span<const LabelTarget> targets) const = 0;
  virtual void set_target(const LabelTarget& target, int64_t num_labels,
                          data::Sample& sample) const = 0;

  // The bias of a classifier that knows how often each label holds, and nothing of the texts. A new
  // classifier begins with it: else its first steps learn this alone, and the pooler, which they
  // drive into saturation, learns little after it. Empty: zeros.
  virtual std::vector<float> first_bias(std::span<const LabelTarget> /*targets*/,
                                        int64_t /*num_labels*/) const {
    return {};
  }

  // The logits are those of a row: one for each label, or for each choice.
  virtual LabelPrediction predict(std::span<const float> logits) const = 0;
  virtual NamedScores score(const ScoredRows& scored) const = 0;
  // The parts of report.html on them, in HTML (formats/html_page.h, with kPlotStyle).
  virtual std::string report(const ScoredRows& scored) const = 0;
  // Adds "label" and "predicted", and what there is of probabilities.
  virtual void add_json(const LabelTarget& target, const LabelPrediction& prediction,
                        std::span<const std::string> names, formats::Json& line) const = 0;
  // The answer on the page of a server, for a row that was predicted right; empty: none.
  virtual std::string answer(const LabelTarget& target, const LabelledText& row,
                             std::span<const std::string> names) const = 0;
};

std::unique_ptr<LabelProblem> one_label_problem();
std::unique_ptr<LabelProblem> label_set_problem();
std::unique_ptr<LabelProblem> number_problem();
std::unique_ptr<LabelProblem> choice_problem();

// The labels of a table: whole numbers by value, other names by their bytes.
std::vector<std::string> sorted_labels(const LabelledTable& table);
// The number of a label. DataError, as target_of().
double number_of_label(const std::string& label, const LabelledTable& table,
                       const LabelledText& row, std::span<const std::string> names);
// DataError: "data.csv:7: label 'x' in column; it must be ...".
[[noreturn]] void refuse_label(const std::string& label, const LabelledTable& table,
                               const LabelledText& row, const std::string& must);

}  // namespace cloze::tasks
