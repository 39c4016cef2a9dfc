// The options that `cloze squad`, `glue` and `finetune` share: those of a run, with other defaults.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "cli/data/cut_report.h"
#include "cli/options/option_table.h"
#include "cli/run/run_options.h"
#include "models/bert_heads.h"
#include "tasks/finetuning_task.h"
#include "text/stated_rules.h"

namespace cloze::cli {

struct FinetuneOptions : RunOptions {
  FinetuneOptions();  // those of BERT's paper: AdamW, 32 sequences, 3 epochs, a tenth of warm-up

  std::string task;
  models::HeadKind head{};   // that the task trains
  bool do_training = false;  // none of the three: whatever there is data for
  bool do_evaluation = false;
  bool do_predict = false;
  std::filesystem::path output_dir;  // empty: save_path
  std::string vocab_file;            // empty: the model folder's
  text::StatedRules rules;           // nothing: as the vocabulary's files say
  double max_unknown_percent = kMaxUnknownPercent;
  int64_t num_seeds = 1;
  int64_t min_train_steps = 0;         // however few `epochs` are; 0: no such bound
  double evaluations_per_epoch = 1.0;  // 0: at the end only
};

// The options of `cloze finetune`, with defaults of its own: transformers' linear schedule with 6 %
// of warm-up, as RoBERTa's (Liu et al., arXiv 1907.11692), and enough steps for a table of twenty
// rows.
struct OwnDataOptions : FinetuneOptions {
  OwnDataOptions();
};

// Adds all of them, and the options of other systems that have no effect here. The hint is shown to
// a user who asks for another task.
void add_finetune_options(OptionTable& table, FinetuneOptions& options, const std::string& task,
                          const std::string& hint = "");

// Adds the options of a loss of classes. `refusal` says why a task has none, as it follows the name
// of an option: "is for classes, but ..."; it is empty where it has.
void add_class_loss_options(OptionTable& table, double& label_smoothing, std::string& class_weights,
                            const std::function<std::string()>& refusal);

// The phases to run: those asked for or, when none is, all that are possible. UserError for one
// that is not possible.
tasks::FinetuningPhases phases_of(const FinetuneOptions& options,
                                  const tasks::FinetuningPhases& possible);

}  // namespace cloze::cli
