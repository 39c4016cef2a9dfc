// The resolved options of a command that fine-tunes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

#include "checkpoints/sentence_folder.h"
#include "cli/run/finetune_options.h"
#include "cli/run/resolved_run.h"
#include "formats/json.h"
#include "models/bert_heads.h"
#include "text/tokenizer.h"

namespace cloze::cli {

// The head and the tokenizer of the model that a run starts from.
struct StartModel {
  models::BertHead head;  // of the checkpoint, where it has labels or layers that make vectors
  text::Tokenizer tokenizer;
  checkpoints::SentenceSettings sentences = {};  // where vectors of texts are trained
};

// The resolved options of a run, or of several that differ in their seed.
struct FinetuneRun : ResolvedRun {
  FinetuneRun(const FinetuneOptions& options, StartModel start)
      : ResolvedRun(options), options(options), start(std::move(start)) {
    length.least = options.min_train_steps;
  }

  // The folder of one seed's run inside `folder`; `folder` itself when there is only one seed.
  std::filesystem::path folder_of(const std::filesystem::path& folder, int64_t seed) const;
  // The options as checkpoints of that run keep them.
  std::vector<train::TextFile> files_of(int64_t seed) const;

  const FinetuneOptions& options;  // ResolvedRun has the same, as those of any command
  StartModel start;
  formats::Json values, origins;                  // of all options
  std::vector<std::string> asked_of_evaluations;  // options of those while training, given now
  bool resumes_seeds = false;                     // num_seeds is that of the run to resume
};

// After OptionTable::resolve(): takes the values of the run to resume, drops what other options
// override, checks everything, prints notes, and reads the start model: the shape of
// init_checkpoint's (or restore_dir's) folder, or without one that of the options, with random
// weights. Options that set a size must agree with the folder; rates of dropout and switches of
// biases override those of the folder. init_checkpoint becomes its newest checkpoint when it is a
// folder of them. `inputs` checks the task's options, and returns the files that it reads. UserError
// when shape, vocabulary and rules do not fit each other.
FinetuneRun resolve(FinetuneOptions& options, OptionTable& table,
                    const std::function<std::vector<std::filesystem::path>()>& inputs);

// The steps, before the last, after which a run of num_steps is evaluated; evaluations_per_epoch is
// not 0.
std::vector<int64_t> evaluation_steps(const FinetuneRun& run, int64_t num_samples,
                                      int64_t num_steps);

}  // namespace cloze::cli
