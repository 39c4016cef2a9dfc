// A task of GLUE to fine-tune on: its TSV files as samples, its metrics, and the files to submit.
// finish() writes eval_results_TASK.json for each dev file and a submission (glue_data.h) for
// each test file; MNLI has those of three tasks.
//
// Errors: UserError for a start model of other classes or another task that is not to be trained.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tasks/finetuning_task.h"
#include "tasks/glue/glue_features.h"
#include "tasks/glue/glue_task.h"

namespace cloze::tasks {

struct GlueFinetuningOptions {
  std::string task_name;
  std::string data_dir;  // the TSV files', or the one above it
  GlueFeatureOptions features;
  std::string class_weights = "none";  // tasks/class_weights.h
  // Its classes and task are left out: they are those of task_name.
  models::BertHead head{.kind = models::HeadKind::kSequenceClassification};
};

class GlueFinetuning : public FinetuningTask {
 public:
  // Keeps a reference to the tokenizer.
  GlueFinetuning(GlueFinetuningOptions options, const text::Tokenizer& tokenizer,
                 TaskOutput output);

  // The phases whose files exist; UserError if none does.
  FinetuningPhases possible_phases() const;
  // Call once: checks the start model's head and reads the files of these phases.
  void prepare(const models::BertHead& start, const FinetuningPhases& phases);

  models::BertHead head() const override { return options_.head; }
  std::string fresh_prefix() const override {
    return has_its_classes_ ? "" : std::string(options_.head.traits().parameters);
  }
  std::shared_ptr<const data::Dataset> training_data() override;
  double evaluate(inference::InferenceClient& client, int64_t step) override;
  std::string evaluated_on() const override;
  Scores finish(inference::InferenceClient& client, const std::filesystem::path& folder) override;

 private:
  // A file as samples, with its labels where it has them.
  struct Part {
    const GlueTask* task = nullptr;
    GlueSplit split = GlueSplit::kTrain;
    std::vector<data::Sample> samples;
    std::vector<double> labels;
    std::vector<GlueExample> first_examples;  // as texts
  };

  void compare_classes(const models::BertHead& start, bool trains);
  void compare_tasks(const models::BertHead& start, bool trains);
  bool has(const GlueTask& task, GlueSplit split) const;
  void load_parts(GlueSplit split);
  void weigh_classes(const Part& train);
  Part load(const GlueTask& task, GlueSplit split) const;
  std::vector<double> predictions(inference::InferenceClient& client,
                                  const std::vector<data::Sample>& samples) const;
  void write_example(const Part& part, const std::vector<double>& values,
                     const std::filesystem::path& folder) const;
  void report(const Part& part, const std::vector<double>& values,
              const std::filesystem::path& folder, Scores& scores) const;

  GlueFinetuningOptions options_;
  const GlueTask& task_;
  const text::Tokenizer& tokenizer_;
  TaskOutput output_;
  bool has_its_classes_ = true;  // the start model, if it has a classifier
  std::vector<Part> parts_;      // what is scored, the task's own dev data first; what is predicted
};

}  // namespace cloze::tasks
