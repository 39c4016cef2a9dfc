#include "cli/pretrain_options.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "models/hugging_face_config.h"

namespace cloze::cli {
namespace {

void validate_steps(const PretrainOptions& o) {
  if (o.global_batch_size && o.gradient_accumulation_count) {
    throw_user_error(
        "global_batch_size {} and gradient_accumulation_count {} both set the batch; give one",
        *o.global_batch_size, *o.gradient_accumulation_count);
  }
  if (o.num_train_steps && o.epochs) {
    throw_user_error("num_train_steps {} and epochs {} both set the length; give one",
                     *o.num_train_steps, *o.epochs);
  }
  if (!o.num_train_steps && !o.epochs && !o.compile_only) {
    throw_user_error("how long to train is not said; give num_train_steps or epochs");
  }
  if (o.epochs && *o.epochs == 0.0) throw_user_error("epochs is 0; it must be above 0");
  if (o.epochs && o.generated_data) {
    throw_user_error("epochs is {}, but generated_data has no end; give num_train_steps",
                     *o.epochs);
  }
}

void validate_data(const PretrainOptions& o) {
  if (o.generated_data && !o.train_file.empty()) {
    throw_user_error("train_file {} and generated_data both give the data; give one", o.train_file);
  }
  if (!o.input_file.empty() && (o.generated_data || !o.train_file.empty())) {
    throw_user_error("input_file {} and {} both give the data; give one", o.input_file,
                     o.generated_data ? "generated_data" : "train_file " + o.train_file);
  }
  if (!o.generated_data && o.train_file.empty() && o.input_file.empty() && !o.compile_only) {
    throw_user_error("there is no data; give input_file, train_file or generated_data");
  }
  if (o.seq_length > o.model.max_position_embeddings) {
    throw_user_error("seq_length {} is over max_position_embeddings {}; raise the latter",
                     o.seq_length, o.model.max_position_embeddings);
  }
  if (o.max_predictions_per_seq > o.seq_length) {
    throw_user_error("max_predictions_per_seq {} is over seq_length {}; lower it",
                     o.max_predictions_per_seq, o.seq_length);
  }
  if (o.tokens_per_micro_batch && *o.tokens_per_micro_batch < o.seq_length) {
    throw_user_error("tokens_per_micro_batch {} holds no sequence of seq_length {}; raise it",
                     *o.tokens_per_micro_batch, o.seq_length);
  }
  if (o.save_path.empty()) throw_user_error("save_path is empty; name a folder");
}

// A whole number of sequences of seq_length.
int64_t tokens_per_micro_batch(const PretrainOptions& options, int64_t sequences_per_step) {
  // Below the first a processor is wasted; above the second nothing is gained.
  constexpr int64_t kEnoughTokens = 1024;
  constexpr int64_t kPlentyOfTokens = 4096;
  // The last micro-batch of a step is half empty on average: of a step of half-long sequences that
  // is 1 %.
  constexpr int64_t kMicroBatchesOfAStep = 96;
  const int64_t S = options.seq_length;
  const int64_t enough = (kEnoughTokens + S - 1) / S;
  const int64_t plenty = std::max({options.micro_batch_size, kPlentyOfTokens / S, enough});
  const int64_t share = sequences_per_step / kMicroBatchesOfAStep;
  return S * std::min(sequences_per_step, std::clamp(share, enough, plenty));
}

// Resets the one of two that the command line has not set, when it has set the other.
template <typename A, typename B>
void keep_command_line(const OptionTable& table, const char* a_name, A& a, const char* b_name,
                       B& b) {
  const bool from_a = table.origin(a_name) == kCommandLineOrigin;
  const bool from_b = table.origin(b_name) == kCommandLineOrigin;
  if (from_a && !from_b) b = B();
  if (from_b && !from_a) a = A();
}

}  // namespace

void prefer_command_line(PretrainOptions& options, const OptionTable& table) {
  keep_command_line(table, "global_batch_size", options.global_batch_size,
                    "gradient_accumulation_count", options.gradient_accumulation_count);
  keep_command_line(table, "num_train_steps", options.num_train_steps, "epochs", options.epochs);
  keep_command_line(table, "train_file", options.train_file, "generated_data",
                    options.generated_data);
  keep_command_line(table, "train_file", options.train_file, "input_file", options.input_file);
  keep_command_line(table, "input_file", options.input_file, "generated_data",
                    options.generated_data);
  keep_command_line(table, "init_checkpoint", options.init_checkpoint, "restore_dir",
                    options.restore_dir);
}

void validate(PretrainOptions& options) {
  validate_steps(options);
  validate_data(options);
  if (!options.init_checkpoint.empty() && !options.restore_dir.empty()) {
    throw_user_error("init_checkpoint {} and restore_dir {} both give the weights; give one",
                     options.init_checkpoint, options.restore_dir);
  }
  if (options.use_nvlamb && options.optimizer != "lamb") {
    throw_user_error("use_nvlamb goes with optimizer lamb, not {}; use max_grad_norm 1",
                     options.optimizer);
  }
  options.model.hidden_act = models::activation_named(options.hidden_act);
  options.model.validate();
  // Errors of the schedule need not wait until the data has been counted.
  learning_rate_schedule(options, options.num_train_steps.value_or(INT32_MAX));
}

BatchPlan batch_plan(const PretrainOptions& options) {
  constexpr int64_t kRoomForShortSequences = 8;
  BatchPlan plan;
  plan.sequences_per_step = options.global_batch_size.value_or(
      options.micro_batch_size * options.gradient_accumulation_count.value_or(1) *
      options.replicas);
  plan.tokens = options.tokens_per_micro_batch.value_or(
      tokens_per_micro_batch(options, plan.sequences_per_step));
  const int64_t full_sequences = std::max<int64_t>(plan.tokens / options.seq_length, 1);
  plan.sequences = std::min(plan.sequences_per_step, full_sequences * kRoomForShortSequences);
  // No sequence has more than max_predictions_per_seq, but short ones have more per token: a
  // quarter is left for them.
  plan.predictions =
      options.max_predictions_per_seq * std::min(4 * plan.sequences, 5 * full_sequences) / 4;
  return plan;
}

int64_t training_steps(const PretrainOptions& options, int64_t num_samples, int64_t copies) {
  if (options.num_train_steps) return *options.num_train_steps;
  const int64_t per_epoch = num_samples / copies;
  const int64_t per_step = batch_plan(options).sequences_per_step;
  const double steps = std::floor(options.epochs.value_or(0.0) * static_cast<double>(per_epoch) /
                                  static_cast<double>(per_step));
  if (steps < 1.0) {
    throw_user_error(
        "{} epochs of {} samples ({} records / duplicate_factor {}) are less than one step of {}; "
        "raise epochs or lower the batch",
        options.epochs.value_or(0.0), per_epoch, num_samples, copies, per_step);
  }
  return static_cast<int64_t>(steps);
}

optim::Schedule learning_rate_schedule(const PretrainOptions& options, int64_t num_steps) {
  if (num_steps == 0) return {};  // nothing will be trained: any schedule fits
  optim::Schedule schedule{
      .kind = optim::schedule_named(options.lr_schedule),
      .base_learning_rate = options.base_learning_rate,
      .warmup_steps = optim::warmup_steps(options.warmup, num_steps),
      .total_steps = num_steps,
      .powers = options.lr_power,
  };
  schedule.validate();
  return schedule;
}

DType compute_dtype(const PretrainOptions& options) {
  const bool is_half = options.precision == "bf16" || options.precision == "16";
  return is_half ? DType::kBF16 : DType::kF32;
}

double clipping_norm(const PretrainOptions& options) {
  if (options.max_grad_norm) return *options.max_grad_norm;
  const bool clips = options.use_mpclip || options.use_nvlamb || options.optimizer == "adamw";
  return clips ? 1.0 : 0.0;
}

}  // namespace cloze::cli
