// The tokenizer of a model, in whichever form it was saved: the only entry point for code that
// needs one.
//
//   vocab.txt        a token a line, with tokenizer_config.json for the rules; beside NAME.txt, these
//                    may be in NAME.tokenizer_config.json, so that one folder can hold several
//   tokenizer.json   all of it in one file, as transformers 5 saves it (tokenizer_json.h)
//
// Where a folder has both, their tokens must agree. tokenizer_config.json overrides
// tokenizer.json, as in transformers, unless its class leaves all to tokenizer.json. Tokens that
// were added beside a vocab.txt (added_tokens.h) are noted.
//
// Errors: UserError that names file, field and value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "text/stated_rules.h"
#include "text/tokenizer_options.h"
#include "text/vocabulary.h"

namespace cloze::checkpoints {

struct StoredTokenizer {
  text::Vocabulary vocabulary;
  text::TokenizerOptions options;
  std::filesystem::path vocabulary_file;  // where the tokens were read
  text::StatedRules stated;               // of these rules, what a file says; the rest is guessed
  int64_t num_added = 0;                  // tokens beyond these, which text is not cut into
  std::vector<std::string> notes;
};

// The tokenizer of a folder. With a `vocabulary_file` the tokens come from that file; the rules come
// from the folder if it has any, else from those beside the file. Where neither says, they are
// guessed from the tokens (text/likely_rules.h). The folder may be "".
StoredTokenizer read_tokenizer(const std::filesystem::path& folder,
                               const std::filesystem::path& vocabulary_file = {});

// The file that holds a folder's tokens; no value when there is none.
std::optional<std::filesystem::path> vocabulary_file_in(const std::filesystem::path& folder);

// The tokens of a vocab.txt, or of a tokenizer.json, which is known by its ending .json.
text::Vocabulary load_vocabulary(const std::filesystem::path& file);

// The file for the rules of a vocabulary file: tokenizer_config.json for vocab.txt,
// NAME.tokenizer_config.json for NAME.txt.
std::filesystem::path rules_file_of(const std::filesystem::path& vocabulary_file);

// Changes the tokenizer's rules to those that options state (do_lower_case, strip_accents), and notes
// where its files state others. UserError for lower-casing with a vocabulary that has capitals,
// unless its files state that.
void take_rules(const text::StatedRules& options, StoredTokenizer& tokenizer);

}  // namespace cloze::checkpoints
