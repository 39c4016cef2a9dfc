#include "cli/run/pretrain_options.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/division.h"

namespace cloze::cli {
namespace {

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
  training.schedule.warmup = 0.04;
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
  const auto give_way_to = [&](const char* length, bool is_set) {
    const bool is_closer =
        precedence_of(table, length) > precedence_of(table, "max_training_sequences");
    if (is_set && is_closer) options.max_training_sequences.reset();
  };
  give_way_to("num_train_steps", options.num_train_steps.has_value());
  give_way_to("epochs", options.epochs.has_value());
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

bool is_overridden(const OptionTable& table, const char* name) {
  const int precedence = precedence_of(table, name);
  return std::ranges::any_of(
      std::array{"train_file", "generated_data", "synthetic_data"},
      [&](const char* data) { return precedence < precedence_of(table, data); });
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
