// Reads tokenizer.json, the file of the `tokenizers` package, as far as it is BERT's: a WordPiece
// model with the normaliser, the words and the template that text/tokenizer.h and the tasks have.
// hugging_face_tokenizer.h writes it.
//
// Errors: UserError that names file, field and value for what cuts text by other rules, and for
// ids that leave a gap; DataError for a file that is not JSON.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "text/tokenizer_options.h"
#include "text/vocabulary.h"

namespace cloze::checkpoints {

struct TokenizerJson {
  text::Vocabulary vocabulary;  // with the added tokens
  text::TokenizerOptions options;
  std::vector<std::string> notes;  // on what the file asks for that is not done here
};

TokenizerJson read_tokenizer_json(const std::filesystem::path& file);

}  // namespace cloze::checkpoints
