// The options of every command that trains. Names and meanings are those of Graphcore's BERT where
// it has them; docs/fidelity/options.md compares. ResolvedRun (cli/run/resolved_run.h) is what they
// come to.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cli/options/machine_options.h"
#include "cli/options/option_table.h"
#include "models/bert_config.h"
#include "train/metrics/metrics_exports.h"
#include "train/training.h"

namespace cloze::cli {

// An epoch's steps are its samples divided by the sequences of a step: exact, or rounded.
enum class EpochSteps { kExact, kDown, kUp };

struct RunOptions {
  // Options that go straight to the run.
  train::TrainingOptions training{.schedule = {.warmup = 0.1}};
  int64_t seq_length = 128;

  // Batches and steps
  int64_t micro_batch_size = 32;
  std::optional<int64_t> gradient_accumulation_count;
  int64_t replicas = 1;
  std::string pipeline_stages = "1";  // with device_mapping: pipeline_options.h
  std::string device_mapping;
  std::optional<int64_t> global_batch_size;
  std::optional<int64_t> tokens_per_micro_batch;
  std::optional<int64_t> num_train_steps;
  std::optional<double> epochs;
  EpochSteps steps_per_epoch = EpochSteps::kExact;
  std::optional<int64_t> max_training_sequences;  // ends the run, whatever its schedule's length
  bool compile_only = false;

  train::MetricsExports exports;
  std::string instruction_set = kAnyInstructionSet;
  std::string progress_bar = "auto";
  std::filesystem::path profile_report;  // HTML with the measured times of a few steps; empty: none
  std::filesystem::path device_file;     // rates for estimated times: forecast/device_rates.h
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

}  // namespace cloze::cli
