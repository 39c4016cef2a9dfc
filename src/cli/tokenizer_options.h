// The options of commands that tokenise text for training: its form, the vocabulary, the rules.
#pragma once

#include <filesystem>
#include <string>

#include "cli/options/option_table.h"
#include "data/corpus/corpus_text.h"
#include "text/tokenizer.h"

namespace cloze::cli {

struct TokenizerFlags {
  std::string vocabulary_file;
  std::string profile;  // empty: the caller's default
  bool do_lower_case = false;
};

// --input-format and --max-invalid-utf8, into what data/corpus/text_source.h takes.
void add_text_form(OptionTable& table, data::TextFormat& format, double& max_invalid_percent);
// These and --input-file, for platform::expand_paths(); "-" is standard input.
void add_text_input(OptionTable& table, std::string& files, data::TextFormat& format,
                    double& max_invalid_percent);
void add_tokenizer_options(OptionTable& table, TokenizerFlags& flags);
// The rules of a tokenizer as the commands name them that have --cased.
Option profile_option(text::Profile& profile);
Option threads_option(int& threads);  // of work whose output does not depend on it

// UserError when the vocabulary is of the other case.
text::Tokenizer make_tokenizer(const TokenizerFlags& flags, const std::string& default_profile);

}  // namespace cloze::cli
