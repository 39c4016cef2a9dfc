// SQuAD as a task to fine-tune on: features of a file of questions, and the official scores of the
// answers to another. finish() writes predictions.json (squad_predictions.h) and eval_results.json.
//
// Errors: UserError for questions without answer unless version_2_with_negative is set, and for a
// file that gives nothing to train on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tasks/finetuning_task.h"
#include "tasks/squad/squad_features.h"
#include "tasks/squad/squad_predictions.h"
#include "tasks/squad/squad_score.h"

namespace cloze::tasks {

struct SquadFinetuningOptions {
  std::string train_file;
  std::string predict_file;
  bool version_2_with_negative = false;  // SQuAD 2.0: there may be no answer
  SquadFeatureOptions features;          // the training data's have labels
  SquadPredictionOptions prediction;
};

class SquadFinetuning : public FinetuningTask {
 public:
  // Keeps a reference to the tokenizer.
  SquadFinetuning(SquadFinetuningOptions options, const text::Tokenizer& tokenizer,
                  TaskOutput output)
      : options_(std::move(options)), tokenizer_(tokenizer), output_(std::move(output)) {}

  // Before any evaluation and prediction: reads predict_file.
  void read_questions() { dev_ = load(options_.predict_file, false); }
  // Says whether these can be scored.
  bool can_be_scored() const;
  void set_phases(const FinetuningPhases& phases) { phases_ = phases; }

  models::BertHead head() const override { return {.kind = models::HeadKind::kQuestionAnswering}; }
  std::shared_ptr<const data::Dataset> training_data() override;
  double evaluate(inference::InferenceClient& client, int64_t step) override;
  std::string evaluated_on() const override;
  Scores finish(inference::InferenceClient& client, const std::filesystem::path& folder) override;

 private:
  struct Questions {
    SquadData data;
    SquadFeatures features;
  };
  Questions load(const std::string& path, bool with_labels) const;
  std::vector<SquadPrediction> answers(inference::InferenceClient& client) const;
  SquadScores score(const std::vector<SquadPrediction>& answers) const;
  void note_no_answers(const std::vector<SquadPrediction>& answers) const;
  // Writes the first question whose answer is one of the right ones to the letter.
  void write_example(const std::vector<SquadPrediction>& answers,
                     const std::filesystem::path& folder) const;

  SquadFinetuningOptions options_;
  const text::Tokenizer& tokenizer_;
  TaskOutput output_;
  FinetuningPhases phases_;
  Questions dev_;
};

}  // namespace cloze::tasks
