// What the commands that make, read and check data have in common: options of text, of its
// tokenizer and of records; how far their work has come, and what they say about it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/data/cut_report.h"
#include "cli/options/option_table.h"
#include "data/corpus/corpus_text.h"
#include "data/dataset.h"
#include "data/inspection/statistics.h"
#include "data/records/record_file.h"
#include "data/token_store/build_token_store.h"
#include "data/token_store/token_store_dataset.h"
#include "data/wikipedia/wikipedia_text.h"
#include "text/stated_rules.h"
#include "text/tokenizer.h"

namespace cloze::cli {

struct TokenizerFlags {
  std::string vocabulary_file;
  std::string profile;      // empty: the caller's default
  text::StatedRules rules;  // nothing: as the vocabulary's files say
  double max_unknown_percent = kMaxUnknownPercent;
};

// --input-format and what belongs to it, into what data/corpus/text_source.h takes. Unless it is
// given, the form is found out.
void add_text_form(OptionTable& table, data::TextForm& form, double& max_invalid_percent);
// These and --input-file, for platform::expand_paths(); "-" is standard input.
void add_text_input(OptionTable& table, std::string& files, data::TextForm& form,
                    double& max_invalid_percent);
void add_tokenizer_options(OptionTable& table, TokenizerFlags& flags, const char* default_profile);
// --do-lower-case and --strip-accents, of every command that takes a vocabulary.
void add_rule_options(OptionTable& table, text::StatedRules& rules);
// The rules of a tokenizer, as the commands with --cased name them.
Option profile_option(text::Profile& profile);
Option threads_option(int& threads);  // of work whose output does not depend on it

// A tokenizer with the rules that come with the vocabulary, except where flags state others. Says
// the notes of the vocabulary's files. UserError for lower-casing with a vocabulary that has
// capitals, unless its files state that.
text::Tokenizer make_tokenizer(const TokenizerFlags& flags, const std::string& default_profile);

// train_files: for platform::expand_paths(), or a token store.
void add_record_options(OptionTable& table, std::string& train_files, data::RecordShape& shape);

// Samples of a token store as cloze pretrain draws them when nothing else is said. UserError when
// their sizes are not given.
std::unique_ptr<data::TokenStoreDataset> open_drawn_samples(const std::string& token_store,
                                                            const data::RecordShape& shape);

// Counts all samples, and shows its progress on standard error. `unknown_id` is that of [UNK].
data::DatasetStatistics measure_with_display(const data::Dataset& dataset, int32_t unknown_id = -1);

// When `share` is large: notes on standard error that many pairs of sentences are not such pairs
// and so teach little (`share` of `what`), and what to do about it.
void print_pair_notice(double share, std::string_view what, std::string_view otherwise);

// Prints the first defects to standard error, and how many more there are.
void print_defects(const std::vector<data::RecordDefect>& defects);

// "41 % of 104.3 MB, 11.8 MB/s, 5 s left, 1234 articles"
std::string describe_dumps(const data::WikipediaProgress& progress, double seconds);

// That while dumps are read, then "tokenising 41 % of 104.3 MB, 11.8 MB/s, 5 s left".
std::string describe_tokenising(const data::CreationProgress& progress, double seconds);

// Builds a store and shows its progress on standard error, where it also says what is lost in
// cutting (cut_report.h).
data::TokenStoreBuilt build_with_display(data::TokenStoreOptions options,
                                         const text::Tokenizer& tokenizer,
                                         double max_unknown_percent);

}  // namespace cloze::cli
