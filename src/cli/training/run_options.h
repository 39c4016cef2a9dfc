// What every command that trains can be told, and the arithmetic of its batches and steps. Names
// and meanings are those of Graphcore's BERT where it has them; docs/fidelity/options.md compares.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cli/options/machine_options.h"
#include "cli/options/option_table.h"
#include "models/bert_config.h"
#include "optim/schedule.h"
#include "train/metrics/metrics_exports.h"
#include "train/training.h"

namespace cloze::cli {

// An epoch's steps are its samples divided by the sequences of a step: exact, or rounded.
enum class EpochSteps { kExact, kDown, kUp };

struct RunOptions {
  // What the options give straight to the run. training_options() adds what follows from them.
  train::TrainingOptions training;
  int64_t seq_length = 128;

  // Batches and steps
  int64_t micro_batch_size = 32;
  std::optional<int64_t> gradient_accumulation_count;
  int64_t replicas = 1;
  std::string pipeline_stages = "1";  // with device_mapping: cli/training/pipeline_options.h
  std::string device_mapping;
  std::optional<int64_t> global_batch_size;
  std::optional<int64_t> tokens_per_micro_batch;
  std::optional<int64_t> num_train_steps;
  std::optional<double> epochs;
  EpochSteps steps_per_epoch = EpochSteps::kExact;
  std::optional<int64_t> last_step;  // ends the run, whatever the length of its schedule
  double warmup = 0.1;               // steps, or a share of all
  bool compile_only = false;

  train::MetricsExports exports;
  std::string instruction_set = kAnyInstructionSet;
  std::string progress_bar = "auto";
  std::filesystem::path profile_report;  // HTML with the measured times of a few steps; empty: none
  std::filesystem::path device_file;     // rates for estimated times: plan/device_rates.h
  bool plans_ranks = false;              // the run is a plan for ranks that are not there

  models::BertConfig& model() { return training.step.model; }
  const models::BertConfig& model() const { return training.step.model; }
  bool computes_alone() const { return training.step.ranks->size() == 1 && !plans_ranks; }
};

// Adds all of them to a command's table; `seq_length_help` says whose length it is.
void add_run_options(OptionTable& table, RunOptions& options, const char* seq_length_help);

// OptionRules::idle of an option that is about several processes.
std::function<std::string()> idle_in_one_process(const RunOptions& options);

// Where two options set the same thing (the batch, the length of the run, the start weights), the
// one of lower precedence is dropped: the command line overrides the file, the file overrides
// defaults.
void settle_rivals(RunOptions& options, const OptionTable& table);

// 0: the default, 1: from the resumed run, 2: from a file, 3: from the command line.
int precedence_of(const OptionTable& table, const char* name);

// Resets whichever of the two has the lower precedence. One that was cleared overrides nothing.
template <typename A, typename B>
void keep_higher_precedence(const OptionTable& table, const char* a_name, A& a, const char* b_name,
                            B& b) {
  const int precedence_of_a = precedence_of(table, a_name);
  const int precedence_of_b = precedence_of(table, b_name);
  if (precedence_of_a > precedence_of_b && a != A()) b = B();
  if (precedence_of_b > precedence_of_a && b != B()) a = A();
}

// Check what depends on several options. UserError that names the options and their values.
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
// 1024 and at most the larger of micro_batch_size * seq_length and 4096. Rounding aside, the layout
// of a step changes only its time: smaller micro-batches waste a processor, and larger ones take
// more memory. There is room for eight times as many sequences as there would be full ones: unused
// places cost next to nothing, and where they run out token slots stay empty. With synthetic data
// `tokens` is lowered until a step is a whole number of micro-batches.
BatchPlan batch_plan(const RunOptions& options);
// Of a configuration as a file has it.
int64_t sequences_of_a_step(const formats::Json& options);
// The number of sequences of seq_length that a micro-batch holds.
int64_t full_sequences(const RunOptions& options, const BatchPlan& plan);
// The number of micro-batches in a step of full sequences.
int64_t micro_batches_of_step(const RunOptions& options);

// The length of the schedule, as far as the options say: num_train_steps; last_step, where nothing
// else sets a length.
std::optional<int64_t> schedule_steps(const RunOptions& options);

// Where the run ends, as far as the options say: last_step, or num_train_steps.
std::optional<int64_t> planned_steps(const RunOptions& options);

// schedule_steps(), or epochs * (num_samples / copies) / sequences_per_step, rounded down. With
// whole steps in an epoch, they are rounded first, and the product up, as transformers does.
// UserError when that is less than one step.
int64_t training_steps(const RunOptions& options, int64_t num_samples, int64_t copies);

// A warm-up of more steps than the run has is cut to those, as when a long configuration is tried
// for a few steps; warmup_note() says so, and is empty otherwise.
optim::Schedule learning_rate_schedule(const RunOptions& options, int64_t num_steps);
std::string warmup_note(const RunOptions& options, int64_t num_steps);

// Says on standard error what the table notes, and which options someone asked for that the run
// does not read: "momentum has no effect with optimizer lamb".
void print_notes(const RunOptions& options, const OptionTable& table);

}  // namespace cloze::cli
