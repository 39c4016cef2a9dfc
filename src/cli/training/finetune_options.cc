#include "cli/training/finetune_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "checkpoints/hugging_face_config.h"
#include "checkpoints/stored_head.h"
#include "checkpoints/stored_model.h"
#include "checkpoints/stored_tokenizer.h"
#include "cli/data/data_options.h"
#include "cli/inference/inference_options.h"
#include "cli/options/foreign_options.h"
#include "cli/say.h"
#include "cli/training/export_options.h"
#include "cli/training/resumed_options.h"
#include "cli/training/start_shape.h"
#include "formats/json.h"
#include "models/bert_heads.h"
#include "text/vocabulary.h"
#include "train/saving/checkpoint.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

void add_task_options(OptionTable& table, FinetuneOptions& o, const std::string& hint) {
  const OptionRules of_command{.is_of_command = true};
  table.begin_group("Task");
  table.add("task", &o.task, "What is trained", {.choices = {o.task}, .hint = hint});
  table.add_common("do_training", &o.do_training,
                   "Train (if none of the three is set: do everything that there is data for)",
                   of_command);
  table.add_common("do_evaluation", &o.do_evaluation, "Score the model on the dev data",
                   of_command);
  table.add_common("do_predict", &o.do_predict, "Write predictions", of_command);
  table.add_common("output_dir", &o.output_dir, "Folder of scores and predictions (save_path)");
  table.add_common("vocab_file", &o.vocab_file,
                   "vocab.txt or tokenizer.json (that of the start model)");
  add_rule_options(table, o.rules);
  add_unknown_limit(table, o.max_unknown_percent);
  table.add_common(
      "num_seeds", &o.num_seeds,
      "Runs, with seed, seed + 1, ...; mean, deviation and best go to seed_summary.json",
      {.minimum = 1, .maximum = 100});
  table.add_common(
      "evaluations_per_epoch", &o.evaluations_per_epoch,
      "Evaluations per epoch while training; the best weights are kept. 0: only at the end",
      {.minimum = 0});
}

// Without a start model the defaults would make it a BERT-base, whatever was meant.
void require_sizes(const OptionTable& table) {
  std::vector<std::string> missing;
  for (const char* name :
       {"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"}) {
    if (!table.is_given(name)) missing.emplace_back(name);
  }
  if (missing.empty()) return;
  throw_user_error(
      "there is no model to start from; give init_checkpoint, or for random weights {}",
      fmt::join(missing, ", "));
}

// The model the run starts from; empty: none.
fs::path start_path(FinetuneOptions& options) {
  train::TrainingOptions& training = options.training;
  if (!training.init_checkpoint.empty()) {
    training.init_checkpoint = model_path(training.init_checkpoint);
    return training.init_checkpoint;
  }
  if (training.restore_dir.empty()) return {};
  // Only its shape and vocabulary are needed: a damaged best checkpoint does not matter here.
  const fs::path folder = run_folder(options, training.restore_dir, training.step.seed);
  if (checkpoints::has_configuration(folder)) return folder;
  return train::checkpoint_in(folder, training.restore_from).path;
}

// The head of a classifier; other heads contribute nothing. A head that is not ours does no harm: a
// new one is initialised.
models::BertHead start_head(const fs::path& path) {
  const fs::path configuration = checkpoints::configuration_of(path);
  const auto architecture = checkpoints::architecture_in(formats::read_json_file(configuration));
  if (!architecture) return checkpoints::read_stored_head(path);
  const models::HeadTraits* head = models::head_of_architecture(*architecture);
  if (head == nullptr || !head->has_labels) return {};
  try {
    return checkpoints::read_hugging_face_head(configuration);
  } catch (const UserError&) {
    return {.kind = head->kind};
  }
}

// The classifier of another head, such as that of tokens, cannot initialise the task's.
void note_other_classifier(const fs::path& path, models::HeadKind found, models::HeadKind wanted) {
  const models::HeadTraits& head = models::traits_of(wanted);
  if (!head.has_labels || found == wanted) return;
  if (!checkpoints::StoredModel(path).find(fmt::format("{}weight", head.parameters))) return;
  say("note: the classifier of {} does not fit a {}; training initialises it afresh\n",
      path.string(), head.architecture);
}

// Also sets options.rules. Prints its notes.
checkpoints::StoredTokenizer start_tokenizer(FinetuneOptions& options, const fs::path& folder) {
  if (options.vocab_file.empty() && folder.empty()) {
    throw_user_error("there is no vocabulary; give vocab_file, or a model folder to start from");
  }
  checkpoints::StoredTokenizer stored = checkpoints::read_tokenizer(folder, options.vocab_file);
  checkpoints::take_rules(options.rules, stored);
  options.rules = {stored.options.lower_case, stored.options.strips_accents()};
  const std::string source = stored.vocabulary_file.string();
  for (const std::string& note : stored.notes) say("note: {}\n", note);
  const auto missing = text::missing_rows(stored.vocabulary, options.model().vocab_size, source);
  if (missing) say("note: {}\n", *missing);
  return stored;
}

}  // namespace

FinetuneOptions::FinetuneOptions() {
  optim::OptimizerOptions& optimizer = training.step.optimizer;
  optimizer.name = "adamw";
  optimizer.weight_decay_rate = 0.01;
  optimizer.use_debiasing = true;
  training.schedule.base_learning_rate = 5e-5;
  training.max_to_keep = 1;
  training.steps_per_checkpoint = 1000;
  epochs = 3.0;
}

void add_finetune_options(OptionTable& table, FinetuneOptions& options, const std::string& task,
                          const std::string& hint) {
  options.task = task;
  add_task_options(table, options, hint);
  add_run_options(table, options, "Longest sequence; longer ones are cut");
  add_foreign_options(table, task);
}

void settle_finetune_options(OptionTable& table, FinetuneOptions& options) {
  take_options_of_run(table, options);
  const fs::path start = options.training.init_checkpoint;
  settle_rivals(options, table);
  validate(options);
  validate_exports_of_seeds(options, options.num_seeds);
  limit_instruction_set(options.instruction_set);
  const uint32_t seed = options.training.step.seed;
  if (options.num_seeds - 1 > std::numeric_limits<uint32_t>::max() - seed) {
    throw_user_error("`seed` {} leaves no room for num_seeds {} after it; lower `seed`", seed,
                     options.num_seeds);
  }
  if (options.num_seeds == 1) {
    validate_start(options);
  } else {
    options.training.init_checkpoint = start;  // when resuming, for the seeds that have not begun
  }
  print_notes(options, table);
}

StartModel start_model(FinetuneOptions& options, const OptionTable& table, models::HeadKind head) {
  const fs::path path = start_path(options);
  const fs::path folder = path.empty() ? fs::path() : checkpoints::folder_of(path);
  if (path.empty()) {
    require_sizes(table);
    validate_model(options);
  } else {
    options.model() = config_of_start(path, options.model(), table, OtherArithmetic::kRefused);
    fit_seq_length(options, table);
  }
  checkpoints::StoredTokenizer stored = start_tokenizer(options, folder);
  const int64_t rows = options.model().vocab_size;
  models::BertHead found;
  if (!path.empty()) {
    found = start_head(path);
    note_other_classifier(path, found.kind, head);
  }
  return {.config = options.model(),
          .head = std::move(found),
          .tokenizer = text::Tokenizer(std::move(stored.vocabulary), stored.options, rows)};
}

std::vector<int64_t> evaluation_steps(const FinetuneOptions& options, int64_t num_samples,
                                      int64_t num_steps) {
  const double steps_per_epoch = static_cast<double>(num_samples) /
                                 static_cast<double>(batch_plan(options).sequences_per_step);
  const auto rounded = std::llround(steps_per_epoch / options.evaluations_per_epoch);
  const auto period = std::max<int64_t>(rounded, 1);
  std::vector<int64_t> steps;
  for (int64_t step = period; step < num_steps; step += period) steps.push_back(step);
  return steps;
}

fs::path run_folder(const FinetuneOptions& options, const fs::path& folder, int64_t seed) {
  return options.num_seeds == 1 ? folder : run_of_seed(folder, seed);
}

tasks::FinetuningPhases phases_of(const FinetuneOptions& options,
                                  const tasks::FinetuningPhases& possible) {
  if (!options.do_training && !options.do_evaluation && !options.do_predict) return possible;
  const auto check = [](bool wanted, bool has_data, const char* name, const char* data) {
    if (wanted && !has_data) throw_user_error("{} is set, but there is no {}", name, data);
    return wanted;
  };
  return {check(options.do_training, possible.training, "do_training", "training data"),
          check(options.do_evaluation, possible.evaluation, "do_evaluation", "dev data"),
          check(options.do_predict, possible.prediction, "do_predict", "data to predict")};
}

}  // namespace cloze::cli
