// What `cloze squad` and `cloze glue` share: the options of a run with fine-tuning's defaults, and
// the model it starts from.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/data/cut_report.h"
#include "cli/options/option_table.h"
#include "cli/training/run_options.h"
#include "models/bert_config.h"
#include "models/bert_heads.h"
#include "tasks/finetuning_task.h"
#include "text/stated_rules.h"
#include "text/tokenizer.h"

namespace cloze::cli {

struct FinetuneOptions : RunOptions {
  FinetuneOptions();  // those of BERT's paper: AdamW, 32 sequences, 3 epochs, a tenth of warm-up

  std::string task;
  bool do_training = false;  // none of the three: whatever there is data for
  bool do_evaluation = false;
  bool do_predict = false;
  std::filesystem::path output_dir;  // empty: save_path
  std::string vocab_file;            // empty: the model folder's
  text::StatedRules rules;           // nothing: as the vocabulary's files say
  double max_unknown_percent = kMaxUnknownPercent;
  int64_t num_seeds = 1;
  double evaluations_per_epoch = 1.0;  // 0: at the end only
};

// Adds all of them, and the options of other systems that have no effect here. The hint is shown to
// a user who asks for another task.
void add_finetune_options(OptionTable& table, FinetuneOptions& options, const std::string& task,
                          const std::string& hint = "");

// After OptionTable::resolve(): takes the values of the run to resume, prints notes, and checks
// everything.
void settle_finetune_options(OptionTable& table, FinetuneOptions& options);

// The model a run starts from: the shape of init_checkpoint's (or restore_dir's) folder, or without
// one that of the options, with random weights. Options that set a size must agree with the folder;
// rates of dropout and switches of biases override those of the folder.
struct StartModel {
  models::BertConfig config;
  models::BertHead head;  // of the checkpoint, where it has labels
  text::Tokenizer tokenizer;
};

// `head`: the task's. Also sets options.model(), and puts init_checkpoint's newest checkpoint in its
// place when it is a folder of checkpoints. UserError when shape, vocabulary and rules do not fit
// each other.
StartModel start_model(FinetuneOptions& options, const OptionTable& table, models::HeadKind head);

// The steps, before the last, after which a run of num_steps is evaluated; evaluations_per_epoch is
// not 0.
std::vector<int64_t> evaluation_steps(const FinetuneOptions& options, int64_t num_samples,
                                      int64_t num_steps);

// The folder of one seed's run inside `folder`; `folder` itself when there is only one seed.
std::filesystem::path run_folder(const FinetuneOptions& options,
                                 const std::filesystem::path& folder, int64_t seed);

// The phases to run: those asked for or, when none is, all that are possible. UserError for one
// that is not possible.
tasks::FinetuningPhases phases_of(const FinetuneOptions& options,
                                  const tasks::FinetuningPhases& possible);

}  // namespace cloze::cli
