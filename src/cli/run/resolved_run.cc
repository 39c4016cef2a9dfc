#include "cli/run/resolved_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/division.h"
#include "base/error.h"
#include "cli/console/say.h"
#include "cli/options/machine_options.h"
#include "cli/options/shipped_files.h"
#include "cli/run/export_options.h"
#include "text/utf8.h"

namespace cloze::cli {
namespace {

RunLength length_of(const RunOptions& o, const BatchPlan& batch) {
  RunLength length;
  if (o.max_training_sequences && o.num_train_steps != 0) {
    length.last_step = *o.max_training_sequences / batch.sequences_per_step;
  }
  length.scheduled = o.num_train_steps || o.epochs ? o.num_train_steps : length.last_step;
  return length;
}

void validate_batch(const RunOptions& o) {
  if (o.global_batch_size && o.gradient_accumulation_count) {
    throw_user_error(
        "global_batch_size {} and gradient_accumulation_count {} both set the batch; give one",
        *o.global_batch_size, *o.gradient_accumulation_count);
  }
  if (o.tokens_per_micro_batch && *o.tokens_per_micro_batch < o.seq_length) {
    throw_user_error("tokens_per_micro_batch {} holds no sequence of seq_length {}; raise it",
                     *o.tokens_per_micro_batch, o.seq_length);
  }
}

void validate_length(const ResolvedRun& run) {
  const RunOptions& o = run.options;
  if (run.length.last_step == 0) {
    throw_user_error("max_training_sequences {} is less than one step of {} sequences; raise it",
                     *o.max_training_sequences, run.batch.sequences_per_step);
  }
  if (o.num_train_steps && o.epochs) {
    throw_user_error("num_train_steps {} and `epochs` {} both set the length; give one",
                     *o.num_train_steps, *o.epochs);
  }
  if (!run.length.scheduled && !o.epochs && !o.compile_only) {
    throw_user_error("the length of the run is not set; give num_train_steps or `epochs`");
  }
  if (o.epochs && *o.epochs == 0.0) throw_user_error("`epochs` is 0; it must be above 0");
}

void validate_profile(const RunOptions& o) {
  if (o.profile_report.empty()) return;
  if (o.training.step.eager || o.training.device_iterations != 1) {
    throw_user_error("profile_report {} measures step by step; leave out {}",
                     o.profile_report.string(),
                     o.training.step.eager ? "`eager`" : "device_iterations");
  }
  if (o.compile_only) {
    throw_user_error(
        "profile_report {} measures a run, but nothing is trained; use cloze plan --report",
        o.profile_report.string());
  }
}

void validate_sums(const train::TrainingStepOptions& step) {
  if (!step.reproducible_sums) return;
  if (step.eager)
    throw_user_error("reproducible_sums adds up gradients after a whole pass; leave out `eager`");
  if (step.gradient_transport != DType::kF32) {
    throw_user_error(
        "reproducible_sums sends gradients unrounded; leave out reduction_precision {}",
        name_of(step.gradient_transport));
  }
}

// Each of the two switches divides gradients by their norm where that is above 1.
void validate_clipping(const optim::OptimizerOptions& optimizer) {
  if (optimizer.use_nvlamb && optimizer.name != "lamb") {
    throw_user_error("use_nvlamb needs `optimizer` lamb, not {}; use max_grad_norm 1",
                     optimizer.name);
  }
  const double norm = optimizer.max_gradient_norm.value_or(1.0);
  if (norm == 1.0 || !(optimizer.use_nvlamb || optimizer.use_mpclip)) return;
  throw_user_error("max_grad_norm is {}, but {} clips at 1; leave one of them out", norm,
                   optimizer.use_nvlamb ? "use_nvlamb" : "use_mpclip");
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

ResolvedRun::ResolvedRun(const RunOptions& options)
    : options(options),
      batch(batch_plan(options)),
      length(length_of(options, batch)),
      training(options.training) {
  training.global_batch_size = batch.sequences_per_step;
  training.step.capacity = {.tokens = batch.tokens, .sequences = batch.sequences};
  training.step.compile.device = chosen_device(options.training.step.compile.device);
}

void validate(const ResolvedRun& run) {
  const RunOptions& o = run.options;
  validate_batch(o);
  validate_length(run);
  if (o.training.save_path.empty()) throw_user_error("save_path is empty; name a folder");
  validate_profile(o);
  validate_sums(o.training.step);
  validate_exports(o);
  validate_clipping(o.training.step.optimizer);
  o.training.loss_scale.validate(o.training.step.compute_dtype);
  // Where nothing will be trained any schedule fits.
  if (run.length.scheduled != 0) o.training.schedule.validate();
}

void validate_start(const RunOptions& options) {
  const std::filesystem::path& start = options.training.init_checkpoint;
  const std::filesystem::path& restored = options.training.restore_dir;
  if (start.empty() || restored.empty()) return;
  throw_user_error("init_checkpoint {} and restore_dir {} both give the weights; give one",
                   start.string(), restored.string());
}

void validate_model(const RunOptions& options) {
  options.model().validate();
  validate_positions(options, "raise max_position_embeddings");
}

void validate_positions(const RunOptions& options, const char* advice) {
  if (options.seq_length <= options.model().max_position_embeddings) return;
  throw_user_error("seq_length {} is over max_position_embeddings {}; {}", options.seq_length,
                   options.model().max_position_embeddings, advice);
}

int64_t scheduled_steps(const ResolvedRun& run, int64_t num_samples, int64_t copies) {
  if (run.length.scheduled) return *run.length.scheduled;
  const int64_t per_epoch = num_samples / copies;
  const int64_t per_step = run.batch.sequences_per_step;
  const double epochs = run.options.epochs.value_or(0.0);
  const double steps = steps_of_epochs(run.options, per_epoch, per_step);
  if (steps < 1.0 && run.length.least == 0) {
    throw_user_error(
        "{} epochs of {} samples ({} records / duplicate_factor {}) are less than one step of {}; "
        "raise `epochs` or lower the batch",
        epochs, per_epoch, num_samples, copies, per_step);
  }
  if (steps > INT32_MAX) {
    throw_user_error("{} epochs are {} steps, more than {}; lower `epochs`", epochs, steps,
                     INT32_MAX);
  }
  return std::max(static_cast<int64_t>(steps), run.length.least);
}

train::TrainingOptions training_of(const ResolvedRun& run, int64_t scheduled_steps) {
  train::TrainingOptions training = run.training;
  training.num_steps = run.length.last_step.value_or(scheduled_steps);
  if (scheduled_steps > 0) {
    const double warmup = training.schedule.warmup;
    if (warmup > static_cast<double>(scheduled_steps)) {
      say("note: `warmup` is {} steps, the run has {}: the warm-up is shortened to {} steps\n",
          warmup, scheduled_steps, scheduled_steps);
    }
    training.schedule = training.schedule.over(scheduled_steps);
  }
  if (!run.options.device_file.empty()) {
    const forecast::DeviceRates rates = device_rates(run.options);
    const auto rate = rates.gflops.find(std::string(name_of(training.step.compute_dtype)));
    if (rate != rates.gflops.end()) training.product_flops = rate->second * 1e9;
  }
  return training;
}

forecast::DeviceRates device_rates(const RunOptions& options) {
  return forecast::read_device_file(find_shipped(options.device_file));
}

std::vector<train::TextFile> option_files(const formats::Json& values,
                                          const formats::Json& origins) {
  require_storable(values);
  return {{kStoredOptionsName, formats::json_text(values)},
          {kStoredOriginsName, formats::json_text(origins)}};
}

void require_storable(const formats::Json& values) {
  for (const auto& [name, value] : values.items()) {
    if (!value.is_string() || text::is_valid_utf8(value.get<std::string>())) continue;
    throw_user_error("{} {} is not UTF-8, so {} cannot keep it for a resumed run; rename it", name,
                     formats::json_line(value), kStoredOptionsName);
  }
}

}  // namespace cloze::cli
