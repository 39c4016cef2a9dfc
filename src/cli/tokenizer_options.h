// The options of commands that tokenise text for training: its form, the vocabulary, the rules.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/subcommand.h"
#include "data/corpus/text_source.h"
#include "text/tokenizer.h"

namespace cloze::cli {

struct TokenizerFlags {
  std::string vocabulary_file;
  std::string profile;  // empty: the caller's default
  bool do_lower_case = false;
};

// Text to read, as data/corpus/text_source.h does.
struct TextInputFlags {
  std::string files;  // comma list, globs, folders, "-"
  std::string format = "sentences";
  double max_invalid_utf8 = 100 * data::kMaxInvalidShare;  // in per cent of the bytes
  std::vector<std::filesystem::path> paths() const;
  // UserError for a format that there is not, and a share outside [0, 100].
  data::TextSourceOptions source_options(int threads) const;
};
void add_text_input(Subcommand& command, TextInputFlags& flags);
void add_tokenizer_options(Subcommand& command, TokenizerFlags& flags);

// UserError when the vocabulary is of the other case.
text::Tokenizer make_tokenizer(const TokenizerFlags& flags, const std::string& default_profile);

}  // namespace cloze::cli
