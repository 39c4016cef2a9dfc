// Fine-tunes a model on a user's own table (labelled_table.h), whose labels mean what a problem says
// (label_problem.h). finish() writes eval_results.json, the scores, and predictions.jsonl, a line for
// each row that was scored.
//
// A start model that was trained on the labels of the training table keeps its classifier and their
// order; any other classifier is initialised afresh. Without training the labels are those of the
// start model.
//
// Errors: UserError for a table that teaches nothing, and for a start model without labels of this
// kind that is only scored; DataError that names file and line for a label that is not known.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tasks/finetuning_task.h"
#include "tasks/labelled/label_problem.h"
#include "tasks/labelled/labelled_table.h"

namespace cloze::tasks {

struct LabelledFinetuningOptions {
  std::shared_ptr<const LabelProblem> problem = one_label_problem();
  std::string train_file;
  std::string dev_file;    // scored while training and at its end
  double dev_share = 0.1;  // of train_file, held out where there is no dev_file; 0: nothing
  uint64_t split_seed = 0;
  TableOptions table;
  int64_t max_sequence_length = 128;
  int threads = 1;
  double classifier_dropout = 0.1;
  double label_smoothing = 0.0;        // of a problem of classes
  std::string class_weights = "none";  // likewise: tasks/class_weights.h
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

  models::BertHead head() const override { return head_; }
  std::string fresh_prefix() const override { return has_its_labels_ ? "" : "classifier."; }
  std::map<std::string, std::vector<float>> fresh_values() const override;
  std::shared_ptr<const data::Dataset> training_data() override;
  int64_t sequences_per_sample() const override;
  double evaluate(inference::InferenceClient& client, int64_t step) override;
  std::string evaluated_on() const override;
  Scores finish(inference::InferenceClient& client, const std::filesystem::path& folder) override;
  std::string report() const override { return report_; }

 private:
  struct Part {
    std::vector<LabelledText> rows;
    std::vector<LabelTarget> targets;
    std::vector<data::Sample> sequences;  // of each row one, or one for each of its choices
  };

  LabelledTable read(const std::string& file) const;
  bool is_of_this_kind(const models::BertHead& start) const;
  void take_labels_of(const models::BertHead& start);
  void take_labels(const LabelledTable& table, const models::BertHead& start);
  std::vector<LabelTarget> targets_of(const LabelledTable& table) const;
  void split(LabelledTable table, const FinetuningPhases& phases);
  void weigh_classes();
  Part part_of(const std::string& name, std::vector<LabelledText> rows,
               std::vector<LabelTarget> targets) const;
  std::vector<data::Sample> labelled_samples(const Part& part) const;
  std::vector<LabelPrediction> predict(inference::InferenceClient& client) const;
  // The rows of the dev part. Observes the predictions.
  ScoredRows scored(std::span<const LabelPrediction> predictions) const;
  void write_example(std::span<const LabelPrediction> predictions,
                     const std::filesystem::path& folder) const;
  void write_predictions(std::span<const LabelPrediction> predictions,
                         const std::filesystem::path& folder) const;

  LabelledFinetuningOptions options_;
  const text::Tokenizer& tokenizer_;
  TaskOutput output_;
  const LabelProblem& problem_;
  models::BertHead head_;
  bool has_its_labels_ = false;  // the start model, in its classifier
  std::optional<Part> train_, dev_;
  std::string report_;  // of the last finish()
};

}  // namespace cloze::tasks
