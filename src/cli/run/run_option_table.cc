#include "cli/run/run_options.h"

#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "cli/run/optimizer_option_table.h"
#include "models/bert_fields.h"
#include "optim/optimizer.h"
#include "platform/available_threads.h"

namespace cloze::cli {
namespace {

constexpr const char* kInOneProcess = "in one process";

using Idle = std::function<std::string()>;  // OptionRules::idle

Idle idle_without_replicas(const RunOptions& o) {
  return [&o]() -> std::string {
    if (o.computes_alone()) return kInOneProcess;
    return o.plans_ranks || o.training.step.num_replicas() > 1 ? "" : "with one replica";
  };
}

Idle idle_without_stages(const RunOptions& o) {
  return [&o]() -> std::string {
    if (o.computes_alone()) return kInOneProcess;
    return o.plans_ranks || o.training.step.num_stages() > 1 ? "" : "with one pipeline stage";
  };
}

void add_loading_options(OptionTable& table, RunOptions& o, const char* seq_length_help) {
  const auto misplaced = [&o] {
    return o.training.synthetic_data
               ? "is set, but synthetic_data loads nothing; leave one of them out"
               : "";
  };
  table.begin_group("Data");
  table.add_common("seq_length", &o.seq_length, seq_length_help, {.minimum = 8});
  table.add("loader_threads", &o.training.loader_threads,
            "Threads that prepare the data of the next steps",
            {.minimum = 1, .maximum = platform::kMostThreads, .misplaced = misplaced});
  table.add("loader_memory", &o.training.loader_memory,
            "MiB that data prepared for the next steps may take",
            {.minimum = 1, .maximum = INT32_MAX, .misplaced = misplaced});
}

// How the processes of a run share its work.
void add_layout_options(OptionTable& table, RunOptions& o) {
  table.add("replicated_tensor_sharding", &o.training.step.shards_states,
            "cloze pretrain under mpirun: divide the optimiser's states over the processes, each "
            "of which then updates a part of the weights and sends it to the others (ZeRO stage "
            "1); the same bytes unless gradients are clipped or travel in bf16",
            {.idle = idle_without_replicas(o)});
  table.add("reduction_precision", named(o.training.step.gradient_transport, dtype_named, name_of),
            "cloze pretrain under mpirun: dtype of gradients in transit; sums are in f32",
            {.choices = {"f32", "bf16"}, .idle = idle_without_replicas(o)});
  table.add(
      "reproducible_sums", &o.training.step.reproducible_sums,
      "Add up gradients micro-batch by micro-batch: the same bytes on any number of processes "
      "and stages; slower, and with a second copy of the gradients in memory");
  const std::vector<std::string> schedules = train::pipeline_schedule_names();
  table.add("pipeline_stages", &o.pipeline_stages,
            "cloze pretrain under mpirun: processes that share the layers of a replica; or lists "
            "of the parts of each stage: [[\"emb\", \"hid\"], [\"hid\", \"mlm\", \"nsp\"]]",
            {.idle = idle_in_one_process(o)});
  table.add("device_mapping", &o.device_mapping,
            "With pipeline_stages: the process of each stage, such as [0, 1, 0] (one process per "
            "stage)",
            {.idle = idle_without_stages(o)});
  table.add("pipeline_schedule", enumerated(o.training.step.schedule, schedules),
            "With pipeline_stages: all forward passes first; forward and backward in turn; or one "
            "micro-batch at a time",
            {.choices = schedules, .idle = idle_without_stages(o)});
}

// Files often have both, for the processes that they were written for.
Idle idle_with_global_batch(const OptionTable& table, const RunOptions& o) {
  return [&table, &o] {
    const bool counts = !o.global_batch_size || !o.computes_alone() ||
                        table.origin("replicas") != kCommandLineOrigin;
    return counts
               ? ""
               : fmt::format("with global_batch_size {} {}", *o.global_batch_size, kInOneProcess);
  };
}

void add_batch_options(OptionTable& table, RunOptions& o) {
  const OptionRules count{.minimum = 1, .maximum = INT32_MAX};
  table.begin_group("Batches and steps");
  table.add_common(
      "micro_batch_size", &o.micro_batch_size,
      "Maximum number of full sequences in one pass, or 4096 tokens where that is more; a "
      "step has this times gradient_accumulation_count times replicas",
      count);
  table.add_common("gradient_accumulation_count", &o.gradient_accumulation_count,
                   "Micro-batches of full sequences in a step (1)", count);
  table.add(
      "replicas", &o.replicas,
      "Multiplies the sequences per step; cloze pretrain under mpirun: the number of processes, "
      "divided by the stages; otherwise one process computes them all",
      {.minimum = 1, .maximum = INT32_MAX, .idle = idle_with_global_batch(table, o)});
  add_layout_options(table, o);
  table.add_common(
      "global_batch_size", &o.global_batch_size,
      "Sequences per step, instead of gradient_accumulation_count (pretrain: 256, where "
      "neither that nor micro_batch_size nor replicas is given)",
      count);
  table.add("tokens_per_micro_batch", &o.tokens_per_micro_batch,
            "Token slots per pass (a 96th of a step; at least 1024; at most the larger of "
            "micro_batch_size * seq_length and 4096)",
            count);
}

void add_length_options(OptionTable& table, RunOptions& o) {
  table.add_common("num_train_steps", &o.num_train_steps,
                   "Weight updates; 0: only save the initial values",
                   {.minimum = 0, .maximum = INT32_MAX});
  table.add_common("epochs", &o.epochs, "Passes over the data, instead of num_train_steps",
                   {.minimum = 0});
  const std::vector<std::string> roundings{"exact", "down", "up"};
  table.add("steps_per_epoch", enumerated(o.steps_per_epoch, roundings),
            "With epochs: an epoch has as many steps as its samples make, or whole ones, rounded "
            "as transformers does without the last batch (down) or with it (up)",
            {.choices = roundings, .idle = [&o] { return o.epochs ? "" : "without `epochs`"; }});
  table.add("device_iterations", &o.training.device_iterations,
            "Steps that the device computes before the host reads their metrics, instead of one",
            {.minimum = 1, .idle = [&o]() -> std::string {
               const auto reason = o.training.why_step_by_step();
               if (o.training.device_iterations == 1 || !reason) return "";
               return fmt::format("with {}: the host looks at each step", *reason);
             }});
  table.add_common("compile_only", &o.compile_only, "Plan, print the memory, stop",
                   {.is_of_command = true});
}

void add_loss_scale_options(OptionTable& table, train::LossScaleOptions& o) {
  const OptionRules scale{.minimum = 0x1p-24, .maximum = 0x1p24};
  table.begin_group("Loss scale");
  table.add(
      "loss_scaling", &o.given,
      "Loss scale; keeps small gradients from being lost in f16; 0: dynamic (0 with f16, else 1)",
      {.minimum = 0, .maximum = 0x1p24});
  table.add("loss_scaling_by_step", &o.by_step,
            "STEP:SCALE pairs, each scale from its step on: 0:512,1000:1024", scale);
  table.add("init_loss_scale", &o.initial, "Initial value of a dynamic loss scale", scale);
  table.add("loss_scale_window", &o.window,
            "Steps in a row without overflow after which a dynamic scale doubles", {.minimum = 1});
  table.add("min_loss_scale", &o.minimum, "A run whose dynamic scale would fall below this stops",
            scale);
}

void add_watch_options(OptionTable& table, train::WatchOptions& o) {
  using train::WatchPolicy;
  const auto policy = [](WatchPolicy& value) {
    return named(value, train::watch_policy_named, train::watch_policy_name);
  };
  table.begin_group("Divergence");
  table.add("on_non_finite", policy(o.on_non_finite),
            "What to do when the numbers of a step are not finite: stop; skip its data; or roll "
            "back to the newest checkpoint, and continue with the data after those of this step",
            {.choices = train::watch_policy_names(WatchPolicy::kSkip)});
  table.add("on_loss_spike", policy(o.on_loss_spike),
            "What to do when the loss is 6 standard deviations above the mean of the losses before "
            "it",
            {.choices = train::watch_policy_names()});
  table.add("on_high_loss", policy(o.on_high_loss),
            "What to do when the loss is worse than an untrained model's for 16 steps in a row",
            {.choices = {"ignore", "warn", "stop"}});
}

void add_computing_options(OptionTable& table, RunOptions& o) {
  train::TrainingStepOptions& step = o.training.step;
  table.begin_group("Run");
  table.add_common(
      "precision", named(step.compute_dtype, dtype_named, name_of),
      "Numbers to compute with; 32 is f32, 16 is bf16, fp16 is f16. Weights are kept in f32",
      {.choices = dtype_names()});
  table.add("optimizer_state_folder", &step.compile.optimizer_state_folder,
            "Keep the optimiser's states in a file in this folder, for models that do not fit in "
            "memory: the system reads and writes it at every update",
            {.idle = [&step]() -> std::string {
              const std::string& optimizer = step.optimizer.name;
              if (!optim::optimizer_named(optimizer).states.empty()) return "";
              return fmt::format("with `optimizer` {}, which has no state", optimizer);
            }});
  table.add_common(
      "recompute", &step.recompute,
      "Drop a layer's activations when the layer is done, and compute them again for its "
      "gradients (activation checkpointing): the same bytes, less memory, 8 to 31 % more "
      "time (see cloze plan)");
  table.add("eager", &step.eager,
            "Run one operator at a time and stop at the first that writes a number that is not "
            "finite: the same bytes, slower");
  table.add_common("threads", &step.compile.target.threads, kThreadsHelp,
                   {.minimum = 0, .maximum = platform::kMostThreads});
  table.add(device_option(step.compile.device));
  table.add(instruction_set_option(o.instruction_set));
  table.add_common("seed", &step.seed, "Seed of the initial weights, the sample order and dropout");
  table.add("profile_report", &o.profile_report,
            "Write an HTML page with the times of a few steps, launch by launch, and beside it "
            "FILE.trace.json for chrome://tracing",
            {.is_of_command = true});
  table.add(
      "device_file", &o.device_file,
      "Estimate times by the rates in this file, and compare a run with its fastest product; cloze "
      "plan --measure makes one",
      {.is_of_command = true});
}

void add_checkpoint_options(OptionTable& table, RunOptions& o) {
  train::TrainingOptions& training = o.training;
  table.add_common("save_path", &training.save_path,
                   "Folder for checkpoints and metrics; default with restore_dir: that folder",
                   {.is_of_command = true});
  table.add_common(
      "init_checkpoint", &training.init_checkpoint,
      "Start from these weights, a model's folder or a run's; the model's shape is theirs",
      {.is_of_command = true});
  table.add_common(
      "restore_dir", &training.restore_dir,
      "Resume from the newest checkpoint in this folder, with the options of its run unless you "
      "give others; model, data, sequences per step, seed, optimizer and first_moment_precision "
      "must stay the same; other changes are listed",
      {.is_of_command = true});
  table.add_common("steps_per_ckpts", &training.steps_per_checkpoint,
                   "Steps between checkpoints; 0: one, at the end", {.minimum = 0});
  table.add_common("max_to_keep", &training.max_to_keep, "Checkpoints kept; 0: all",
                   {.minimum = 0});
  table.add_common("steps_per_logs", &training.steps_per_log, "Steps between lines of metrics",
                   {.minimum = 1});
  table.add("steps_per_norms", &training.steps_per_norms,
            "Steps between lines that have the norm of every weight and gradient; 0: never",
            {.minimum = 0});
  table.add("progress_bar", &o.progress_bar, "Show a progress bar; auto: only on a terminal",
            {.choices = {"auto", "true", "false"}});
}

void add_export_options(OptionTable& table, train::MetricsExports& o) {
  table.add("wandb", &o.wandb,
            "Write a run of Weights & Biases below save_path, which `wandb sync` sends");
  table.add("wandb_name", &o.wandb_name, "Name of the W&B run (the folder's name)",
            {.idle = [&o] { return o.wandb ? "" : "without `wandb`"; }});
  table.add("dllogger_file", &o.dllogger_file,
            "Write lines of NVIDIA's DLLogger to this file, below save_path");
  table.add("mllog_file", &o.mllog_file,
            "Write lines of MLPerf's logger to this file, below save_path");
  table.add("prometheus_file", &o.prometheus_file,
            "Keep the newest metrics in this file, below save_path, as Prometheus reads them");
}

Option model_option(const models::BertField& field, models::Activation& target) {
  return {field.name,
          named(target, models::activation_named, models::activation_name),
          field.help,
          {.choices = models::activation_names()}};
}
Option model_option(const models::BertField& field, bool& target) {
  return {field.name, &target, field.help};
}
Option model_option(const models::BertField& field, double& target) {
  return {field.name, &target, field.help, {.minimum = 0, .maximum = kJustBelowOne}};
}
Option model_option(const models::BertField& field, int64_t& target) {
  return {field.name, &target, field.help, {.minimum = 1}};
}

}  // namespace

std::function<std::string()> idle_in_one_process(const RunOptions& o) {
  return [&o] { return o.computes_alone() ? kInOneProcess : ""; };
}

void add_run_options(OptionTable& table, RunOptions& options, const char* seq_length_help) {
  table.allow_file();
  add_loading_options(table, options, seq_length_help);
  add_batch_options(table, options);
  add_length_options(table, options);
  add_schedule_options(table, options.training.schedule);
  add_optimizer_options(table, options.training.step.optimizer);
  add_loss_scale_options(table, options.training.loss_scale);
  add_watch_options(table, options.training.watch);
  add_computing_options(table, options);
  add_checkpoint_options(table, options);
  add_export_options(table, options.exports);
  table.begin_group("Model");
  for (const models::BertField& field : models::bert_fields()) {
    std::visit([&](auto member) { table.add(model_option(field, options.model().*member)); },
               field.member);
  }
}

int precedence_of(const OptionTable& table, const char* name) {
  const std::string& origin = table.origin(name);
  if (origin == kDefaultOrigin) return 0;
  if (table.comes_from_run(name)) return 1;
  return origin == kCommandLineOrigin ? 3 : 2;
}

void settle_rivals(RunOptions& options, const OptionTable& table) {
  keep_higher_precedence(table, "global_batch_size", options.global_batch_size,
                         "gradient_accumulation_count", options.gradient_accumulation_count);
  keep_higher_precedence(table, "loss_scaling", options.training.loss_scale.given,
                         "loss_scaling_by_step", options.training.loss_scale.by_step);
  keep_higher_precedence(table, "num_train_steps", options.num_train_steps, "epochs",
                         options.epochs);
  keep_higher_precedence(table, "init_checkpoint", options.training.init_checkpoint, "restore_dir",
                         options.training.restore_dir);
}

}  // namespace cloze::cli
