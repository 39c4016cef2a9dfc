// The options of commands that tokenise text for training: its form, the vocabulary, the rules.
#pragma once

#include <string>

#include "cli/subcommand.h"
#include "text/tokenizer.h"

namespace cloze::cli {

struct TokenizerFlags {
  std::string vocabulary_file;
  std::string profile;  // empty: the caller's default
  bool do_lower_case = false;
};

// --input-format, a name of data/corpus/corpus_text.h.
void add_input_format(Subcommand& command, std::string& format);
void add_tokenizer_options(Subcommand& command, TokenizerFlags& flags);

// UserError when the vocabulary is of the other case.
text::Tokenizer make_tokenizer(const TokenizerFlags& flags, const std::string& default_profile);

}  // namespace cloze::cli
