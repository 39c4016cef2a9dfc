// Fine-tunes a classifier, or a model that predicts a number, on a user's own table
// (labelled_table.h). finish() writes eval_results.json, the scores, and predictions.jsonl, a line
// for each row that was scored.
//
// The classes are the labels of the training table: whole numbers by value, other names by their
// bytes. A start model that was trained on the same names keeps its classifier and their order; any
// other classifier is initialised afresh. Without training the classes are those of the start model.
//
// Errors: UserError for a table of one class, and for a start model without these classes that is
// only scored; DataError that names file and line for a label that is no class, or no number.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tasks/finetuning_task.h"
#include "tasks/labelled/class_scores.h"
#include "tasks/labelled/labelled_table.h"

namespace cloze::tasks {

struct LabelledFinetuningOptions {
  bool is_regression = false;
  std::string train_file;
  std::string dev_file;    // scored while training and at its end
  double dev_share = 0.1;  // of train_file, held out where there is no dev_file; 0: nothing
  uint64_t split_seed = 0;
  TableOptions table;
  int64_t max_sequence_length = 128;
  int threads = 1;
  // Its classes are left out: the tables say them.
  models::BertHead head{.kind = models::HeadKind::kSequenceClassification};
};

class LabelledFinetuning : public FinetuningTask {
 public:
  // Keeps a reference to the tokenizer.
  LabelledFinetuning(LabelledFinetuningOptions options, const text::Tokenizer& tokenizer,
                     TaskOutput output);

  // UserError when no file is named.
  FinetuningPhases possible_phases() const;
  // Call once: reads the tables of these phases and settles the classes.
  void prepare(const models::BertHead& start, const FinetuningPhases& phases);

  models::BertHead head() const override { return options_.head; }
  std::string fresh_prefix() const override { return has_its_classes_ ? "" : "classifier."; }
  std::shared_ptr<const data::Dataset> training_data() override;
  double evaluate(inference::InferenceClient& client, int64_t step) override;
  std::string evaluated_on() const override;
  Scores finish(inference::InferenceClient& client, const std::filesystem::path& folder) override;

 private:
  struct Part {
    std::vector<LabelledText> rows;
    std::vector<double> labels;  // the number of the class, or the value
    std::vector<data::Sample> samples;
  };
  struct Predictions {
    std::vector<double> values;         // as Part::labels
    std::vector<double> probabilities;  // of the predicted class; none of a regression
  };

  LabelledTable read(const std::string& file) const;
  bool is_of_this_kind(const models::BertHead& start) const;
  void take_classes_of(const models::BertHead& start);
  void take_classes(const LabelledTable& table, const models::BertHead& start);
  double label_number(const LabelledTable& table, const LabelledText& row) const;
  std::vector<double> label_numbers(const LabelledTable& table) const;
  void split(LabelledTable table, const FinetuningPhases& phases);
  Part part_of(const std::string& name, std::vector<LabelledText> rows,
               std::vector<double> labels) const;
  Predictions predict(inference::InferenceClient& client) const;
  NamedScores score(const Predictions& predictions) const;
  void write_example(const Predictions& predictions, const std::filesystem::path& folder) const;
  void write_predictions(const Predictions& predictions, const std::filesystem::path& folder) const;

  LabelledFinetuningOptions options_;
  const text::Tokenizer& tokenizer_;
  TaskOutput output_;
  bool has_its_classes_ = false;  // the start model, in its classifier
  std::optional<Part> train_, dev_;
};

}  // namespace cloze::tasks
