#include "cli/training/run_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/division.h"
#include "base/error.h"
#include "cli/say.h"
#include "cli/training/export_options.h"

namespace cloze::cli {
namespace {

void validate_steps(const RunOptions& o) {
  if (o.global_batch_size && o.gradient_accumulation_count) {
    throw_user_error(
        "global_batch_size {} and gradient_accumulation_count {} both set the batch; give one",
        *o.global_batch_size, *o.gradient_accumulation_count);
  }
  if (o.num_train_steps && o.epochs) {
    throw_user_error("num_train_steps {} and `epochs` {} both set the length; give one",
                     *o.num_train_steps, *o.epochs);
  }
  if (!schedule_steps(o) && !o.epochs && !o.compile_only) {
    throw_user_error("the length of the run is not set; give num_train_steps or `epochs`");
  }
  if (o.epochs && *o.epochs == 0.0) throw_user_error("`epochs` is 0; it must be above 0");
}

void validate_lengths(const RunOptions& o) {
  if (o.tokens_per_micro_batch && *o.tokens_per_micro_batch < o.seq_length) {
    throw_user_error("tokens_per_micro_batch {} holds no sequence of seq_length {}; raise it",
                     *o.tokens_per_micro_batch, o.seq_length);
  }
  if (o.training.save_path.empty()) throw_user_error("save_path is empty; name a folder");
}

void validate_profile(const RunOptions& o) {
  const bool is_measured_by_launch = !o.training.step.eager && o.training.device_iterations == 1;
  if (!o.profile_report.empty() && !is_measured_by_launch) {
    throw_user_error("profile_report {} measures step by step; leave out {}",
                     o.profile_report.string(),
                     o.training.step.eager ? "`eager`" : "device_iterations");
  }
  if (!o.profile_report.empty() && o.compile_only) {
    throw_user_error(
        "profile_report {} measures a run, but nothing is trained; use cloze plan --report",
        o.profile_report.string());
  }
}

void validate_sums(const RunOptions& o) {
  const train::TrainingStepOptions& step = o.training.step;
  if (!step.reproducible_sums) return;
  if (step.eager)
    throw_user_error("reproducible_sums adds up gradients after a whole pass; leave out `eager`");
  if (step.gradient_transport != DType::kF32) {
    throw_user_error(
        "reproducible_sums sends gradients unrounded; leave out reduction_precision {}",
        name_of(step.gradient_transport));
  }
}

int64_t product_of_batches(const RunOptions& o) {
  const int64_t accumulated = o.gradient_accumulation_count.value_or(1);
  int64_t product = o.micro_batch_size;
  const bool is_too_large = __builtin_mul_overflow(product, accumulated, &product) ||
                            __builtin_mul_overflow(product, o.replicas, &product) ||
                            product > INT32_MAX;
  if (!is_too_large) return product;
  throw_user_error(
      "micro_batch_size {} * gradient_accumulation_count {} * `replicas` {} are more than the {} "
      "sequences that a step can have; lower them",
      o.micro_batch_size, accumulated, o.replicas, INT32_MAX);
}

// Each of the two switches divides gradients by their norm where that is above 1.
void validate_clipping(const optim::OptimizerOptions& optimizer) {
  const double norm = optimizer.max_gradient_norm.value_or(1.0);
  if (norm == 1.0 || !(optimizer.use_nvlamb || optimizer.use_mpclip)) return;
  throw_user_error("max_grad_norm is {}, but {} clips at 1; leave one of them out", norm,
                   optimizer.use_nvlamb ? "use_nvlamb" : "use_mpclip");
}

// A whole number of sequences of seq_length.
int64_t tokens_per_micro_batch(const RunOptions& options, int64_t sequences_per_step) {
  // Below the first a processor is wasted; above the second nothing is gained.
  constexpr int64_t kEnoughTokens = 1024;
  constexpr int64_t kPlentyOfTokens = 4096;
  // Larger micro-batches take more memory, and leave the last one of a step less full.
  constexpr int64_t kMicroBatchesOfAStep = 96;
  const int64_t S = options.seq_length;
  const int64_t enough = divide_up(kEnoughTokens, S);
  const int64_t plenty = std::max({options.micro_batch_size, kPlentyOfTokens / S, enough});
  const int64_t share = sequences_per_step / kMicroBatchesOfAStep;
  int64_t sequences = std::min(sequences_per_step, std::clamp(share, enough, plenty));
  while (options.training.synthetic_data && sequences_per_step % sequences != 0) --sequences;
  return S * sequences;
}

double steps_of_epochs(const RunOptions& options, int64_t samples, int64_t samples_of_a_step) {
  const double epochs = options.epochs.value_or(0.0);
  if (options.steps_per_epoch == EpochSteps::kExact) {
    return std::floor(epochs * static_cast<double>(samples) /
                      static_cast<double>(samples_of_a_step));
  }
  const int64_t whole = options.steps_per_epoch == EpochSteps::kUp
                            ? divide_up(samples, samples_of_a_step)
                            : samples / samples_of_a_step;
  return std::ceil(epochs * static_cast<double>(whole));
}

}  // namespace

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

void validate(RunOptions& options) {
  validate_steps(options);
  validate_lengths(options);
  validate_profile(options);
  validate_sums(options);
  validate_exports(options);
  const optim::OptimizerOptions& optimizer = options.training.step.optimizer;
  if (optimizer.use_nvlamb && optimizer.name != "lamb") {
    throw_user_error("use_nvlamb needs `optimizer` lamb, not {}; use max_grad_norm 1",
                     optimizer.name);
  }
  validate_clipping(optimizer);
  options.training.loss_scale.validate(options.training.step.compute_dtype);
  // Errors of the schedule need not wait until the data has been counted.
  learning_rate_schedule(options, schedule_steps(options).value_or(INT32_MAX));
}

void validate_start(const RunOptions& options) {
  const std::filesystem::path& start = options.training.init_checkpoint;
  const std::filesystem::path& restored = options.training.restore_dir;
  if (start.empty() || restored.empty()) return;
  throw_user_error("init_checkpoint {} and restore_dir {} both give the weights; give one",
                   start.string(), restored.string());
}

void validate_model(RunOptions& options) {
  options.model().validate();
  validate_positions(options, "raise max_position_embeddings");
}

void validate_positions(const RunOptions& options, const char* advice) {
  if (options.seq_length <= options.model().max_position_embeddings) return;
  throw_user_error("seq_length {} is over max_position_embeddings {}; {}", options.seq_length,
                   options.model().max_position_embeddings, advice);
}

BatchPlan batch_plan(const RunOptions& options) {
  constexpr int64_t kRoomForShortSequences = 8;
  BatchPlan plan;
  plan.sequences_per_step =
      options.global_batch_size ? *options.global_batch_size : product_of_batches(options);
  plan.tokens = options.tokens_per_micro_batch.value_or(
      tokens_per_micro_batch(options, plan.sequences_per_step));
  plan.sequences =
      std::min(plan.sequences_per_step, full_sequences(options, plan) * kRoomForShortSequences);
  return plan;
}

int64_t sequences_of_a_step(const formats::Json& options) {
  RunOptions run;
  const auto take = [&](const char* name, auto& target) {
    if (!options.contains(name)) return;
    if (!options.at(name).is_number_integer()) {
      throw_user_error("{} is {}; it must be a whole number", name, options.at(name).dump());
    }
    target = options.at(name).template get<int64_t>();
  };
  take("micro_batch_size", run.micro_batch_size);
  take("gradient_accumulation_count", run.gradient_accumulation_count);
  take("replicas", run.replicas);
  take("global_batch_size", run.global_batch_size);
  return batch_plan(run).sequences_per_step;
}

int64_t full_sequences(const RunOptions& options, const BatchPlan& plan) {
  return std::clamp<int64_t>(plan.tokens / options.seq_length, 1, plan.sequences_per_step);
}

int64_t micro_batches_of_step(const RunOptions& options) {
  const BatchPlan batch = batch_plan(options);
  const int64_t full = full_sequences(options, batch);
  return divide_up(batch.sequences_per_step, full);
}

std::optional<int64_t> schedule_steps(const RunOptions& options) {
  return options.num_train_steps || options.epochs ? options.num_train_steps : options.last_step;
}

std::optional<int64_t> planned_steps(const RunOptions& options) {
  return options.last_step ? options.last_step : options.num_train_steps;
}

int64_t training_steps(const RunOptions& options, int64_t num_samples, int64_t copies) {
  if (const auto steps = schedule_steps(options)) return *steps;
  const int64_t per_epoch = num_samples / copies;
  const int64_t per_step = batch_plan(options).sequences_per_step;
  const double steps = steps_of_epochs(options, per_epoch, per_step);
  if (steps < 1.0) {
    throw_user_error(
        "{} epochs of {} samples ({} records / duplicate_factor {}) are less than one step of {}; "
        "raise `epochs` or lower the batch",
        options.epochs.value_or(0.0), per_epoch, num_samples, copies, per_step);
  }
  if (steps > INT32_MAX) {
    throw_user_error("{} epochs are {} steps, more than {}; lower `epochs`", *options.epochs, steps,
                     INT32_MAX);
  }
  return static_cast<int64_t>(steps);
}

optim::Schedule learning_rate_schedule(const RunOptions& options, int64_t num_steps) {
  if (num_steps == 0) return {};  // nothing will be trained: any schedule fits
  optim::Schedule schedule = options.training.schedule;
  schedule.warmup_steps = std::min(optim::warmup_steps(schedule, options.warmup, num_steps),
                                   static_cast<double>(num_steps));
  schedule.total_steps = num_steps;
  schedule.validate();
  return schedule;
}

std::string warmup_note(const RunOptions& options, int64_t num_steps) {
  if (num_steps == 0 || options.warmup <= static_cast<double>(num_steps)) return "";
  return fmt::format("`warmup` is {} steps, the run has {}: the warm-up is shortened to {} steps",
                     options.warmup, num_steps, num_steps);
}

void print_notes(const RunOptions& options, const OptionTable& table) {
  std::vector<std::string> notes = table.notes();
  for (std::string& note : table.idle_notes()) notes.push_back(std::move(note));
  // Files often have both, for the processes that they were written for.
  if (options.global_batch_size && options.computes_alone() &&
      table.origin("replicas") == kCommandLineOrigin) {
    notes.push_back(fmt::format("`replicas` has no effect with global_batch_size {} in one process",
                                *options.global_batch_size));
  }
  for (const std::string& note : notes) say("note: {}\n", note);
}

}  // namespace cloze::cli
