// Everything `cloze pretrain` can be told. Names and meanings are those of Graphcore's BERT where
// it has them; docs/fidelity/options.md compares.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/data/data_options.h"
#include "cli/options/option_table.h"
#include "cli/run/run_options.h"
#include "comm/rank_watch.h"
#include "data/records/record_dataset.h"
#include "data/token_store/build_token_store.h"
#include "data/token_store/token_store_dataset.h"

namespace cloze::cli {

// Evaluation while it trains, by sequences trained on.
struct ValidationOptions {
  std::string files;                // records or a token store; empty: none
  std::vector<double> triggers;     // after how many; empty: every `interval`
  std::optional<int64_t> interval;  // nothing: mlperf_interval()
  std::optional<int64_t> start;     // the first; nothing: the interval
  std::optional<double> target;     // MLM accuracy that ends the run
};

// A step of pre-training, where no option says anything of its size.
inline constexpr int64_t kSequencesOfPretrainingStep = 256;

struct PretrainOptions : RunOptions {
  PretrainOptions();  // those of configs/bert_base.json

  std::string task = "pretraining";
  std::string train_file;  // comma list of record files, folders, patterns; or a token store
  std::string input_file;  // text to train on instead: comma list of files, folders, patterns
  data::TokenStoreOptions store;  // of input_file; no folder: save_path/tokens
  TokenizerFlags tokenizer;       // no vocabulary: the start model's, if any
  bool generated_data = false;
  bool static_mask = false;
  data::RecordDatasetOptions records;
  ValidationOptions validation;
  comm::WatchBounds rank_watch;  // of ranks, by their heartbeats
  data::DrawingOptions drawing;  // of samples from text; the number of predictions is for any data

  int64_t max_predictions() const { return drawing.pairs.masking.max_predictions; }
  // The option that has the data made instead of read; empty: none.
  std::string made_data() const {
    return training.synthetic_data ? "synthetic_data" : generated_data ? "generated_data" : "";
  }
  // Says whether samples are drawn from text, rather than read as they were written or made.
  bool draws_samples() const { return !input_file.empty() || data::is_token_store(train_file); }
  // Says whether they are drawn from a store that was made before.
  bool has_store() const { return input_file.empty() && draws_samples(); }
};

// The table of all options, with those of other systems.
void add_pretrain_options(OptionTable& table, PretrainOptions& options);

// Where two options set the same thing (those of RunOptions, or the data) and only one of them
// comes from the command line, the other one is dropped: the command line overrides the file. Where
// none sets the batch of a new run, it is kSequencesOfPretrainingStep.
void settle_rivals(PretrainOptions& options, const OptionTable& table);

// Says whether other data override the input_file that this option came with: it does not count.
bool is_overridden(const OptionTable& table, const char* name);

// Sequences between two evaluations by MLPerf's rules for BERT: 0.05 (230.23 N + 3000000) for steps
// of N sequences, rounded down to a multiple of 25000.
// Source: github.com/mlcommons/training_policies, training_rules.adoc.
int64_t mlperf_interval(int64_t sequences_per_step);

// The steps, before the last, at which the number of sequences trained on first reaches one of the
// triggers; ascending.
std::vector<int64_t> validation_steps(const ValidationOptions& options, int64_t sequences_per_step,
                                      int64_t num_steps);

}  // namespace cloze::cli
