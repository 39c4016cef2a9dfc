// Trains a model that makes vectors of texts on a user's own table of them (text_tuples.h), by a loss
// that compares the vectors of all texts of a step (contrastive_losses.h). finish() writes
// eval_results.json, the scores (vector_scores.h), and predictions.jsonl, a line for each row that was
// scored.
//
// The layers that make the vectors are those of the start model, or the mean over tokens. Texts are
// given to the model alone, each with the model's default prompt before it.
//
// A dev file with scores is scored as such, whatever the loss, and one without as pairs.
//
// Errors: UserError when no file is named, and for a loss whose rows the table lacks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tasks/contrastive/contrastive_objective.h"
#include "tasks/contrastive/text_tuples.h"
#include "tasks/contrastive/vector_scores.h"
#include "tasks/finetuning_task.h"

namespace cloze::tasks {

inline constexpr const char* kLossOfTable = "auto";

struct ContrastiveFinetuningOptions {
  ContrastiveObjective objective{.loss =
                                     kLossOfTable};  // by the table: cosent or multiple_negatives
  std::string train_file;
  std::string dev_file;    // scored while training and at its end
  double dev_share = 0.1;  // of train_file, held out where there is no dev_file; 0: nothing
  uint64_t split_seed = 0;
  TupleOptions table;
  std::string prompt;  // put before each text
  int64_t max_sequence_length = 128;
  int threads = 1;
};

class ContrastiveFinetuning : public FinetuningTask {
 public:
  // Keeps a reference to the tokenizer.
  ContrastiveFinetuning(ContrastiveFinetuningOptions options, const text::Tokenizer& tokenizer,
                        TaskOutput output);

  // UserError when no file is named.
  FinetuningPhases possible_phases() const;
  // Call once: reads the tables of these phases. `start`: of a head that makes vectors.
  void prepare(const models::BertHead& start, int64_t hidden_size, const FinetuningPhases& phases);

  models::BertHead head() const override { return head_; }
  std::shared_ptr<const data::Dataset> training_data() override;
  int64_t sequences_per_sample() const override;
  models::VectorLoss vector_loss() const override;
  double evaluate(inference::InferenceClient& client, int64_t step) override;
  std::string evaluated_on() const override;
  Scores finish(inference::InferenceClient& client, const std::filesystem::path& folder) override;

 private:
  struct Part {
    std::vector<TextTuple> rows;
    bool has_scores = false;
    DistinctTexts distinct;
    std::vector<data::Sample> sequences;  // of each distinct text
  };

  TupleTable read(const std::string& file, const TupleOptions& columns) const;
  TupleTable read_train() const;
  TupleTable read_dev() const;
  void take_loss(const TupleTable& table);
  void require_rows(const TupleTable& table) const;
  void split(TupleTable table, const FinetuningPhases& phases);
  Part part_of(const std::string& name, std::vector<TextTuple> rows, bool has_scores) const;
  VectorScores score(inference::InferenceClient& client) const;
  void write_predictions(std::span<const ScoredTuple> scored,
                         const std::filesystem::path& folder) const;

  ContrastiveFinetuningOptions options_;
  const text::Tokenizer& tokenizer_;
  TaskOutput output_;
  models::BertHead head_;
  int64_t hidden_size_ = 0;
  std::optional<Part> train_, dev_;
};

}  // namespace cloze::tasks
