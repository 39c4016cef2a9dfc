#include "cli/run/finetune_options.h"

#include <vector>

#include "base/error.h"
#include "cli/data/data_options.h"
#include "cli/options/foreign_options.h"
#include "cli/run/optimizer_option_table.h"

namespace cloze::cli {
namespace {

void add_evaluation_options(OptionTable& table, FinetuneOptions& o) {
  table.add_common(
      "evaluations_per_epoch", &o.evaluations_per_epoch,
      "Evaluations per epoch while training; the best weights are kept. 0: only at the end",
      {.minimum = 0});
  train::EarlyStoppingOptions& stopping = o.training.early_stopping;
  table.add_common("early_stopping_patience", &stopping.patience,
                   "End a run when so many evaluations in a row gain nothing; 0: never",
                   {.minimum = 0, .maximum = INT32_MAX, .idle = [&o] {
                      return o.evaluations_per_epoch > 0 ? "" : "with evaluations_per_epoch 0";
                    }});
  table.add("early_stopping_min_gain", &stopping.min_gain,
            "A smaller gain counts as none; in the unit of the score, which is a percentage of "
            "squad and a share of the others",
            {.minimum = 0, .idle = [&stopping] {
               return stopping.patience > 0 ? "" : "without early_stopping_patience";
             }});
}

void add_depth_options(OptionTable& table, optim::DepthRules& depth) {
  table.add("freeze_embeddings", &depth.freezes_embeddings,
            "The embeddings keep their values: less time and memory", {.idle = [&depth] {
              return depth.frozen_layers > 0 ? "with freeze_layers, which freezes them, too" : "";
            }});
  table.add("freeze_layers", &depth.frozen_layers,
            "So many of the lowest layers, and the embeddings, keep their values",
            {.minimum = 0, .maximum = INT32_MAX});
  table.add(
      "layer_learning_rate_decay", &depth.rate_decay,
      "Each layer learns with this times the rate of the layer above it, the embeddings below "
      "the first; pooler and head have the full rate; 1: all have it",
      {.minimum = 1e-3, .maximum = 1});
}

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
  table.add("min_train_steps", &o.min_train_steps,
            "Train for at least so many steps, whatever `epochs` comes to on a small table",
            {.minimum = 0, .maximum = INT32_MAX});
  add_evaluation_options(table, o);
  add_depth_options(table, o.training.step.optimizer.depth);
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

OwnDataOptions::OwnDataOptions() {
  training.schedule.name = "linear";
  training.schedule.warmup = 0.06;
  min_train_steps = 100;
}

void add_finetune_options(OptionTable& table, FinetuneOptions& options, const std::string& task,
                          const std::string& hint) {
  options.task = task;
  add_task_options(table, options, hint);
  add_run_options(table, options, "Longest sequence; longer ones are cut");
  add_foreign_options(table, task);
}

void add_class_loss_options(OptionTable& table, double& label_smoothing, std::string& class_weights,
                            const std::function<std::string()>& refusal) {
  table.add_common("class_weights", &class_weights,
                   "Weights of classes in the loss: none; balanced, by how rare they are; one for "
                   "each, 2,1,0.5; or a JSON file {\"label\": weight}",
                   {.misplaced = refusal});
  table.add("label_smoothing", &label_smoothing,
            "Share of each label that the loss gives to all classes alike",
            {.minimum = 0, .maximum = kJustBelowOne, .misplaced = refusal});
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
