// The tokenizer files of a Hugging Face folder. Made from a vocabulary: with them
// AutoTokenizer.from_pretrained(folder) splits text as the vocabulary's BERT was trained to.
// Source: tokenizers 0.23 serialisation of BertNormalizer, BertPreTokenizer, WordPiece and
// TemplateProcessing; transformers 5 tokenizer_config.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "text/tokenizer_options.h"

namespace cloze::checkpoints {

struct TokenizerDescription {
  std::span<const std::string> tokens;  // id = index; needs [PAD] [UNK] [CLS] [SEP] [MASK]
  text::TokenizerOptions options;
  int64_t max_length = 512;  // positions of the model
};

// Each throws UserError when a special token is missing, a token repeats or is not UTF-8.
std::string tokenizer_json_text(const TokenizerDescription& tokenizer);
std::string tokenizer_config_text(const TokenizerDescription& tokenizer);
std::string special_tokens_map_text();
// vocab.txt: one token per line.
std::string vocabulary_text(const TokenizerDescription& tokenizer);

// What the tokenizer_config.json of a folder says, and where that says nothing (or the folder is
// empty: there is none) `otherwise`. UserError for what is neither true nor false.
text::TokenizerOptions read_tokenizer_options(const std::filesystem::path& folder,
                                              const text::TokenizerOptions& otherwise);

// Whether that file names a class that leaves all to tokenizer.json.
bool tokenizer_json_rules(const std::filesystem::path& folder);

// The tokenizer_class that file names, as JSON, when its words are not BERT's.
std::optional<std::string> foreign_tokenizer_class(const std::filesystem::path& folder);
// UserError when there is one.
void require_bert_tokenizer(const std::filesystem::path& folder);

}  // namespace cloze::checkpoints
