#include "cli/run_options.h"
#include "engine/devices.h"
#include "models/bert_fields.h"

namespace cloze::cli {
namespace {

constexpr double kLargestSeed = 4294967295.0;
constexpr double kJustBelowOne = 0.9999999;

void add_loading_options(OptionTable& table, RunOptions& o, const char* seq_length_help) {
  const std::string group = "Data";
  table.add({.name = "seq_length",
             .target = &o.seq_length,
             .help = seq_length_help,
             .group = group,
             .minimum = 8});
  table.add({.name = "loader_threads",
             .target = &o.loader_threads,
             .help = "Threads that make the next steps ready",
             .group = group,
             .minimum = 1});
  table.add({.name = "loader_memory",
             .target = &o.loader_memory,
             .help = "MiB that steps made ready may take",
             .group = group,
             .minimum = 1});
}

void add_batch_options(OptionTable& table, RunOptions& o) {
  const std::string group = "Batches and steps";
  table.add({.name = "micro_batch_size",
             .target = &o.micro_batch_size,
             .help = "Full sequences that one pass has room for",
             .group = group,
             .minimum = 1});
  table.add({.name = "gradient_accumulation_count",
             .target = &o.gradient_accumulation_count,
             .help = "Micro-batches of full sequences in a step (1)",
             .group = group,
             .minimum = 1});
  table.add({.name = "replicas",
             .target = &o.replicas,
             .help = "Multiplies the sequences of a step; one process computes them all",
             .group = group,
             .minimum = 1});
  table.add({.name = "global_batch_size",
             .target = &o.global_batch_size,
             .help = "Sequences of a step, instead of gradient_accumulation_count",
             .group = group,
             .minimum = 1});
  table.add({.name = "tokens_per_micro_batch",
             .target = &o.tokens_per_micro_batch,
             .help = "Token slots of one pass (micro_batch_size * seq_length)",
             .group = group,
             .minimum = 1});
  table.add({.name = "num_train_steps",
             .target = &o.num_train_steps,
             .help = "Weight updates; 0 only saves the start values",
             .group = group,
             .minimum = 0});
  table.add({.name = "epochs",
             .target = &o.epochs,
             .help = "Passes over the data, instead of num_train_steps",
             .group = group,
             .minimum = 0});
  table.add({.name = "compile_only",
             .target = &o.compile_only,
             .help = "Plan, print the memory, stop",
             .group = group,
             .is_of_command = true});
}

void add_schedule_options(OptionTable& table, RunOptions& o) {
  const std::string group = "Learning rate";
  table.add({.name = "base_learning_rate",
             .target = &o.base_learning_rate,
             .help = "The peak",
             .group = group,
             .minimum = 0});
  table.add({.name = "warmup",
             .target = &o.warmup,
             .help = "A whole number of steps, or a share of all steps below 1",
             .group = group,
             .minimum = 0});
  table.add({.name = "lr_schedule",
             .target = &o.lr_schedule,
             .help = "After the warm-up; poly_warmup counts the decay from step 0 (Habana's, "
                     "NVIDIA's)",
             .group = group,
             .choices = optim::schedule_names()});
  table.add({.name = "lr_power",
             .target = &o.lr_power,
             .help = "One power, or that of the warm-up and that of the decay",
             .group = group,
             .minimum = 0});
}

void add_optimizer_options(OptionTable& table, RunOptions& o) {
  const std::string group = "Optimiser";
  table.add({.name = "optimizer",
             .target = &o.optimizer,
             .help = "Update rule; mpadamw is adamw: weights are f32 always",
             .group = group,
             .choices = optim::optimizer_names()});
  table.add({.name = "beta1",
             .target = &o.beta1,
             .help = "Decay of the first moment",
             .group = group,
             .minimum = 0,
             .maximum = kJustBelowOne});
  table.add({.name = "beta2",
             .target = &o.beta2,
             .help = "Decay of the second moment",
             .group = group,
             .minimum = 0,
             .maximum = kJustBelowOne});
  table.add({.name = "epsilon",
             .target = &o.epsilon,
             .help = "Added to the root of the second moment",
             .group = group,
             .minimum = 0});
  table.add({.name = "weight_decay_rate",
             .target = &o.weight_decay_rate,
             .help = "Decoupled decay; not of biases and LayerNorm",
             .group = group,
             .minimum = 0});
  table.add({.name = "use_debiasing",
             .target = &o.use_debiasing,
             .help = "Correct the moments for their start at 0",
             .group = group});
  table.add({.name = "use_nvlamb",
             .target = &o.use_nvlamb,
             .help = "Divide gradients by max(their global norm, 1)",
             .group = group});
  table.add({.name = "use_mpclip",
             .target = &o.use_mpclip,
             .help = "Clip the global gradient norm at 1",
             .group = group});
  table.add({.name = "max_grad_norm",
             .target = &o.max_grad_norm,
             .help = "Clip it here; 0: never (1 with adamw, use_mpclip, use_nvlamb; else 0)",
             .group = group,
             .minimum = 0});
}

void add_execution_options(OptionTable& table, RunOptions& o) {
  const std::string group = "Run";
  table.add({.name = "precision",
             .target = &o.precision,
             .help = "Numbers to compute with; 32 is f32, 16 is bf16. Weights are kept in f32",
             .group = group,
             .choices = {"f32", "bf16", "32", "16"}});
  table.add({.name = "recompute",
             .target = &o.recompute,
             .help = "Keep a layer's activations no longer than the layer takes, and compute them "
                     "again for its gradients: the same bytes, less memory, a fifth more time",
             .group = group});
  table.add({.name = "threads",
             .target = &o.threads,
             .help = "Threads to compute with; 0: all",
             .group = group,
             .minimum = 0,
             .maximum = 1024});
  table.add({.name = "device",
             .target = &o.device,
             .help = device_help(),
             .group = group,
             .choices = engine::device_names()});
  table.add({.name = "instruction_set",
             .target = &o.instruction_set,
             .help = kInstructionSetHelp,
             .group = group,
             .choices = {"auto", "avx2", "avx512", "avx512_bf16", "amx"}});
  table.add({.name = "seed",
             .target = &o.seed,
             .help = "Of initial weights, order of samples and dropout",
             .group = group,
             .minimum = 0,
             .maximum = kLargestSeed});
  table.add({.name = "save_path",
             .target = &o.save_path,
             .help = "Folder of checkpoints and metrics; with restore_dir that folder",
             .group = group,
             .is_of_command = true});
  table.add({.name = "init_checkpoint",
             .target = &o.init_checkpoint,
             .help = "Start from these weights, at step 0",
             .group = group,
             .is_of_command = true});
  table.add({.name = "restore_dir",
             .target = &o.restore_dir,
             .help = "Go on from the newest checkpoint in this folder, with the options of its run "
                     "where none are given; model, data, step size, seed and optimizer must be the "
                     "same, other changes are listed",
             .group = group,
             .is_of_command = true});
  table.add({.name = "steps_per_ckpts",
             .target = &o.steps_per_ckpts,
             .help = "Steps between checkpoints",
             .group = group,
             .minimum = 1});
  table.add({.name = "max_to_keep",
             .target = &o.max_to_keep,
             .help = "Checkpoints kept; 0: all",
             .group = group,
             .minimum = 0});
  table.add({.name = "steps_per_logs",
             .target = &o.steps_per_logs,
             .help = "Steps between lines of metrics",
             .group = group,
             .minimum = 1});
  table.add({.name = "progress_bar",
             .target = &o.progress_bar,
             .help = "auto: on a terminal",
             .group = group,
             .choices = {"auto", "true", "false"}});
}

Option model_option(models::BertConfig& model, const models::BertField& field) {
  Option option{.name = field.name,
                .target = std::visit([&](auto member) -> OptionTarget { return &(model.*member); },
                                     field.member),
                .help = field.help,
                .group = "Model"};
  if (std::holds_alternative<int64_t*>(option.target)) option.minimum = 1;
  if (std::holds_alternative<double*>(option.target)) {
    option.minimum = 0;
    option.maximum = kJustBelowOne;
  }
  if (std::holds_alternative<models::Activation*>(option.target)) {
    option.choices = models::activation_names();
  }
  return option;
}

void add_model_options(OptionTable& table, models::BertConfig& model) {
  for (const models::BertField& field : models::bert_fields()) {
    table.add(model_option(model, field));
  }
}

}  // namespace

void add_run_options(OptionTable& table, RunOptions& options, const char* seq_length_help) {
  add_loading_options(table, options, seq_length_help);
  add_batch_options(table, options);
  add_schedule_options(table, options);
  add_optimizer_options(table, options);
  add_execution_options(table, options);
  add_model_options(table, options.model);
}

}  // namespace cloze::cli
