// What every command that trains can be told, and the arithmetic of its batches and steps. Names
// and meanings are those of Graphcore's BERT where it has them; docs/fidelity/options.md compares.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "cli/options/option_table.h"
#include "models/bert_config.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "train/checkpoint.h"

namespace cloze::cli {

struct RunOptions {
  // Data
  int64_t seq_length = 128;
  int64_t loader_threads = 1;
  int64_t loader_memory = 256;  // MiB

  // Batches and steps
  int64_t micro_batch_size = 32;
  std::optional<int64_t> gradient_accumulation_count;
  int64_t replicas = 1;
  std::optional<int64_t> global_batch_size;
  std::optional<int64_t> tokens_per_micro_batch;
  std::optional<int64_t> num_train_steps;
  std::optional<double> epochs;
  bool compile_only = false;

  // Optimiser
  std::string optimizer = "lamb";
  double base_learning_rate = 2e-5;
  double warmup = 0.1;
  std::string lr_schedule = "polynomial_decay";
  std::vector<double> lr_power = {1.0};
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  double weight_decay_rate = 0.0;
  bool use_debiasing = false;
  bool use_nvlamb = false;
  bool use_mpclip = false;
  std::optional<double> max_grad_norm;

  // Execution
  std::string precision = "f32";
  bool recompute = false;
  int64_t threads = 0;  // 0: all the process may use
  std::string device = "cpu";
  std::string instruction_set = "auto";
  int64_t seed = 1234;

  // Output
  std::string save_path = "checkpoints";
  std::string init_checkpoint;
  std::string restore_dir;
  // The checkpoint in restore_dir, no option: take_options_of_run() finds it. Of several seeds'
  // runs it is the first one's.
  std::optional<train::FoundCheckpoint> restore_from;
  int64_t steps_per_ckpts = 256;
  int64_t max_to_keep = 5;
  int64_t steps_per_logs = 1;
  std::string progress_bar = "auto";

  models::BertConfig model;
};

inline constexpr const char* kInstructionSetHelp =
    "Use no more of the processor than this: avx2, avx512, avx512_bf16 or amx";

std::string device_help();

// Adds all of them to a command's table; `seq_length_help` says whose length it is.
void add_run_options(OptionTable& table, RunOptions& options, const char* seq_length_help);

// Where two options set the same thing (the batch, the length of the run, the start weights), the
// one that ranks lower is dropped: the command line overrides the file, the file overrides
// defaults.
void settle_rivals(RunOptions& options, const OptionTable& table);

// 0: the default, 1: of the run that goes on, 2: from a file, 3: from the command line.
int rank_of_origin(const OptionTable& table, const char* name);

// Resets the one of two that ranks below the other.
template <typename A, typename B>
void keep_higher_rank(const OptionTable& table, const char* a_name, A& a, const char* b_name,
                      B& b) {
  const int rank_of_a = rank_of_origin(table, a_name);
  const int rank_of_b = rank_of_origin(table, b_name);
  if (rank_of_a > rank_of_b) b = B();
  if (rank_of_b > rank_of_a) a = A();
}

// Before anything is computed. UserError for an instruction set that the machine lacks.
void limit_instruction_set(const RunOptions& options);

// Check what one option cannot say alone. UserError that names the options and their values.
void validate(RunOptions& options);
void validate_start(const RunOptions& options);
// The model that the options describe, for a command that takes none from a checkpoint.
void validate_model(RunOptions& options);
void validate_positions(const RunOptions& options, const char* advice);

// Tokens and sequences of a micro-batch; and sequences of a step.
struct BatchPlan {
  int64_t sequences_per_step = 0;
  int64_t tokens = 0;     // slots in a micro-batch
  int64_t sequences = 0;  // room in a micro-batch
};

// sequences_per_step = global_batch_size, or micro_batch_size * gradient_accumulation_count *
// replicas. tokens = tokens_per_micro_batch, or a 96th of a step of full sequences, but at least
// 1024 and at most micro_batch_size * seq_length or 4096: how a step is laid out changes nothing
// but the time, smaller micro-batches waste a processor, and of larger ones the last one is often
// nearly empty. There is room for eight times as many sequences as full ones: unused places cost
// next to nothing, and where they run out token slots stay empty.
BatchPlan batch_plan(const RunOptions& options);

// num_train_steps, or epochs * (num_samples / copies) / sequences_per_step, rounded down.
// UserError when that is less than one step.
int64_t training_steps(const RunOptions& options, int64_t num_samples, int64_t copies);

// A warm-up of more steps than the run has is cut to those, as when a long configuration is tried
// for a few steps; warmup_note() says so, and is empty otherwise.
optim::Schedule learning_rate_schedule(const RunOptions& options, int64_t num_steps);
std::string warmup_note(const RunOptions& options, int64_t num_steps);
DType compute_dtype(const RunOptions& options);
// Global norm to clip at, 0 for none: max_grad_norm; else 1 with AdamW, use_mpclip or use_nvlamb.
double clipping_norm(const RunOptions& options);
optim::OptimizerOptions optimizer_options(const RunOptions& options);

}  // namespace cloze::cli
