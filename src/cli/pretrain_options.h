// Everything `cloze pretrain` can be told. Names and meanings are those of Graphcore's BERT where
// it has them; docs/fidelity/options.md compares.
#pragma once

#include <cstdint>
#include <string>

#include "cli/options/option_table.h"
#include "cli/run_options.h"
#include "data/corpus/text_source.h"

namespace cloze::cli {

struct PretrainOptions : RunOptions {
  // Data
  std::string task = "pretraining";
  std::string train_file;  // comma list of record files, folders, patterns; or a token store
  std::string input_file;  // text to train on instead: comma list of files, folders, patterns
  std::string input_format = "sentences";
  double max_invalid_utf8 = 100 * data::kMaxInvalidShare;  // in per cent of the bytes
  std::string token_store;  // where the tokens of input_file are kept; empty: save_path/tokens
  std::string vocab_file;   // written into checkpoints; empty: they have no tokenizer
  std::string profile;      // of the tokenizer; empty: hf
  bool do_lower_case = true;
  bool generated_data = false;
  bool static_mask = false;
  bool skip_bad = false;
  int64_t max_predictions_per_seq = 20;
  int64_t duplicate_factor = 1;

  // Samples drawn from text
  double mlm_prob = 0.15;
  double short_seq_prob = 0.1;
  bool do_whole_word_mask = false;
  std::string next_sentence = "random";
};

// The table of all options, with those of other systems; it writes into `options`.
OptionTable pretrain_option_table(PretrainOptions& options);

// Where two options set the same thing (those of RunOptions, or the data) and only one of them
// comes from the command line, the other one is dropped: the command line outranks the file.
void settle_rivals(PretrainOptions& options, const OptionTable& table);

// Checks what one option cannot say alone. UserError that names the options and their values.
void validate(PretrainOptions& options);

// Room for predictions in a micro-batch: as many as full sequences have and a quarter more.
int64_t prediction_room(const PretrainOptions& options, const BatchPlan& plan);

}  // namespace cloze::cli
