#include "cli/training/pretrain_options.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/division.h"
#include "base/error.h"

namespace cloze::cli {
namespace {

void validate_data(const PretrainOptions& o) {
  const std::string made = o.made_data();
  if (!made.empty() && !o.train_file.empty()) {
    throw_user_error("train_file {} and {} both give the data; give one", o.train_file, made);
  }
  if (!o.input_file.empty() && (!made.empty() || !o.train_file.empty())) {
    throw_user_error("input_file {} and {} both give the data; give one", o.input_file,
                     made.empty() ? "train_file " + o.train_file : made);
  }
  if (made.empty() && o.train_file.empty() && o.input_file.empty() && !o.compile_only) {
    throw_user_error("there is no data; give input_file, train_file or generated_data");
  }
  if (o.epochs && !made.empty()) {
    throw_user_error("`epochs` is {}, but {} has no end; give num_train_steps", *o.epochs, made);
  }
  const BatchPlan batch = batch_plan(o);
  if (o.training.synthetic_data && batch.sequences_per_step % full_sequences(o, batch) != 0) {
    throw_user_error(
        "synthetic_data computes one micro-batch, here of {} sequences, which do not divide a step "
        "of {}; change tokens_per_micro_batch",
        full_sequences(o, batch), batch.sequences_per_step);
  }
  if (o.max_predictions() > o.seq_length) {
    throw_user_error("max_predictions_per_seq {} is over seq_length {}; lower it",
                     o.max_predictions(), o.seq_length);
  }
}

void validate_evaluation(const ValidationOptions& v) {
  const std::pair<const char*, bool> needing[] = {
      {"on_the_spot_validation_triggers", !v.triggers.empty()},
      {"eval_iter_samples", v.interval.has_value()},
      {"eval_iter_start_samples", v.start.has_value()},
      {"target_mlm_accuracy", v.target.has_value()}};
  for (const auto& [name, is_set] : needing) {
    if (!is_set || !v.files.empty()) continue;
    throw_user_error(
        "{} needs an evaluation set, and there is none; name its files with "
        "on_the_spot_validation_files",
        name);
  }
  if (!v.triggers.empty() && (v.interval || v.start)) {
    throw_user_error("on_the_spot_validation_triggers and {} both say when to evaluate; give one",
                     v.interval ? "eval_iter_samples" : "eval_iter_start_samples");
  }
}

void validate_watch(const comm::WatchBounds& bounds) {
  if (bounds.silence == 0 || bounds.silence >= comm::kShortestSilence) return;
  throw_user_error(
      "heartbeat_timeout is {}, but a process reports five times a second, and may be late; "
      "give {} or more, or 0",
      bounds.silence, comm::kShortestSilence);
}

void take_length_of_sequences(PretrainOptions& o) {
  if (!o.max_training_sequences) return;
  const int64_t sequences = batch_plan(o).sequences_per_step;
  if (*o.max_training_sequences < sequences) {
    throw_user_error("max_training_sequences {} is less than one step of {} sequences; raise it",
                     *o.max_training_sequences, sequences);
  }
  const int64_t last_step = *o.max_training_sequences / sequences;
  if (o.num_train_steps != 0) o.last_step = last_step;
}

// Of configurations of other systems, conversion sets a batch.
void take_batch_of_default(PretrainOptions& o, const OptionTable& table) {
  const bool is_set = std::ranges::any_of(std::array{"global_batch_size", "micro_batch_size",
                                                     "gradient_accumulation_count", "replicas"},
                                          [&](const char* name) { return table.is_given(name); });
  if (!is_set && !table.is_of_other_system() && !o.training.restore_from) {
    o.global_batch_size = kSequencesOfPretrainingStep;
  }
}

}  // namespace

PretrainOptions::PretrainOptions() {
  optim::OptimizerOptions& optimizer = training.step.optimizer;
  optimizer.name = "adamw";
  optimizer.beta2 = 0.98;
  optimizer.weight_decay_rate = 0.01;
  optimizer.use_debiasing = true;
  training.schedule.base_learning_rate = 2e-4;
  warmup = 0.04;
  training.steps_per_checkpoint = 250;
  training.max_to_keep = 2;
  training.steps_per_log = 10;
}

void settle_rivals(PretrainOptions& options, const OptionTable& table) {
  const bool had_start = !options.training.init_checkpoint.empty();
  settle_rivals(static_cast<RunOptions&>(options), table);
  take_batch_of_default(options, table);
  // A resumed run drops init_checkpoint, and with it the options on what to take from there.
  const bool has_lost_start = had_start && options.training.init_checkpoint.empty();
  // So does one whose file names a checkpoint that the command line takes back.
  const bool has_no_start = !had_start && precedence_of(table, "init_checkpoint") >
                                              precedence_of(table, "init_optimizer");
  if (has_no_start || (has_lost_start && precedence_of(table, "init_optimizer") <
                                             precedence_of(table, "restore_dir"))) {
    options.training.init_optimizer = train::InitOptimizer::kFresh;
  }
  for (const char* length : {"num_train_steps", "epochs"}) {
    const bool is_closer =
        precedence_of(table, length) > precedence_of(table, "max_training_sequences");
    if (is_closer && table.is_asked_for(length)) options.max_training_sequences.reset();
  }
  ValidationOptions& validation = options.validation;
  keep_higher_precedence(table, "on_the_spot_validation_triggers", validation.triggers,
                         "eval_iter_samples", validation.interval);
  keep_higher_precedence(table, "on_the_spot_validation_triggers", validation.triggers,
                         "eval_iter_start_samples", validation.start);
  keep_higher_precedence(table, "train_file", options.train_file, "input_file", options.input_file);
  for (const auto& [name, made] : {std::pair("generated_data", &options.generated_data),
                                   std::pair("synthetic_data", &options.training.synthetic_data)}) {
    keep_higher_precedence(table, "train_file", options.train_file, name, *made);
    keep_higher_precedence(table, "input_file", options.input_file, name, *made);
  }
}

void validate(PretrainOptions& options) {
  take_length_of_sequences(options);
  validate(static_cast<RunOptions&>(options));
  validate_start(options);
  if (options.training.init_optimizer != train::InitOptimizer::kFresh &&
      options.training.init_checkpoint.empty() && !options.compile_only) {
    throw_user_error("init_optimizer needs init_checkpoint, which is not given");
  }
  validate_model(options);
  validate_data(options);
  validate_evaluation(options.validation);
  validate_watch(options.rank_watch);
}

int64_t prediction_room(const PretrainOptions& options, const BatchPlan& plan) {
  // No sequence has more than max_predictions_per_seq predictions, but short ones have more per
  // token: a quarter more room is left for them.
  return options.max_predictions() *
         std::min(4 * plan.sequences, 5 * full_sequences(options, plan)) / 4;
}

int64_t mlperf_interval(int64_t sequences_per_step) {
  constexpr int64_t kUnit = 25000;
  const double wanted = 0.05 * (230.23 * static_cast<double>(sequences_per_step) + 3'000'000);
  return static_cast<int64_t>(wanted) / kUnit * kUnit;
}

std::vector<int64_t> validation_steps(const ValidationOptions& options, int64_t sequences_per_step,
                                      int64_t num_steps) {
  std::vector<int64_t> steps;
  const auto step_of = [&](int64_t trigger) { return divide_up(trigger, sequences_per_step); };
  if (options.triggers.empty()) {
    const int64_t interval = options.interval.value_or(mlperf_interval(sequences_per_step));
    int64_t trigger = options.start.value_or(interval);
    while (step_of(trigger) < num_steps) {
      steps.push_back(step_of(trigger));
      // To the first one of a later step.
      trigger += interval * divide_up(steps.back() * sequences_per_step + 1 - trigger, interval);
    }
    return steps;
  }
  const auto end = static_cast<double>(sequences_per_step * (num_steps - 1) + 1);
  for (const double trigger : options.triggers) {
    if (trigger < end) steps.push_back(step_of(static_cast<int64_t>(trigger)));
  }
  std::ranges::sort(steps);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

}  // namespace cloze::cli
