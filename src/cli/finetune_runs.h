// One or several runs of a fine-tuning command, one for each seed, and what they score.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "cli/finetune_options.h"
#include "cli/seed_summary.h"
#include "data/dataset.h"
#include "inference/inference_client.h"
#include "models/bert_heads.h"

namespace cloze::cli {

// What a command knows of its task.
class FinetuneTask {
 public:
  virtual ~FinetuneTask() = default;
  virtual models::BertHead head() const = 0;
  // Tensors of the start model that begin so are another task's; empty: none.
  virtual std::string fresh_prefix() const { return ""; }
  // Asked for once, however many seeds there are.
  virtual std::shared_ptr<const data::Dataset> training_data() = 0;
  // Both run the client under an InferenceDisplay, which throws when a signal asks to stop.
  // The metric that chooses the weights to keep, more is better. Prints what the dev data score.
  virtual double evaluate(inference::InferenceClient& client, int64_t step) = 0;
  // Scores and predicts, as the phases say, into a folder.
  virtual Scores finish(inference::InferenceClient& client,
                        const std::filesystem::path& folder) = 0;
};

struct Finetuning {
  FinetuneOptions& options;  // the seed becomes that of the run that goes on
  const OptionTable& table;
  const StartModel& model;
  Phases phases;
};

// What a step takes, for compile_only.
void print_plan(const FinetuneOptions& options, const StartModel& model,
                const models::BertHead& head);

// Trains when it is a phase, and finishes with the best checkpoint, else with init_checkpoint. With
// several seeds each run has a folder seed-N in save_path; means and deviations are printed and,
// with what each run scored and the best, written to seed_summary.json in output_dir (or
// save_path); restore_dir then goes on with the seeds that have begun.
void finetune(const Finetuning& finetuning, FinetuneTask& task);

}  // namespace cloze::cli
