// The tokenizer of a model, in whichever form it was saved: the only entry point for code that
// needs one.
//
//   vocab.txt        a token a line, with tokenizer_config.json for the rules
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

#include "text/tokenizer_options.h"
#include "text/vocabulary.h"

namespace cloze::checkpoints {

struct StoredTokenizer {
  text::Vocabulary vocabulary;
  text::TokenizerOptions options;
  std::filesystem::path vocabulary_file;  // where the tokens were read
  int64_t num_added = 0;                  // tokens beyond these, which text is not cut into
  std::vector<std::string> notes;
};

// The tokenizer of a folder. With a `vocabulary_file` the tokens come from that file; the rules come
// from the folder if it has any, else from the folder that the file is in. Where neither says, lower
// case is guessed from the tokens. The folder may be "".
StoredTokenizer read_tokenizer(const std::filesystem::path& folder,
                               const std::filesystem::path& vocabulary_file = {});

// The file that holds a folder's tokens; no value when there is none.
std::optional<std::filesystem::path> vocabulary_file_in(const std::filesystem::path& folder);

// The tokens of a vocab.txt, or of a tokenizer.json, which is known by its ending .json.
text::Vocabulary load_vocabulary(const std::filesystem::path& file);

// UserError unless that is the tokenizer's lower_case.
void require_letter_case(const StoredTokenizer& tokenizer, bool do_lower_case);
// For a command that cuts text by `followed`, whose lower_case is its option do_lower_case.
// UserError that names the first rule of the tokenizer that says otherwise.
void require_rules(const StoredTokenizer& tokenizer, const text::TokenizerOptions& followed);

}  // namespace cloze::checkpoints
