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

#include "text/vocabulary.h"

namespace cloze::models {

struct TokenizerSettings {
  bool lower_case = true;             // also strips accents, as BERT's uncased models do
  std::optional<bool> strip_accents;  // nothing: as lower_case
  bool tokenize_chinese_chars = true;
};

struct TokenizerDescription {
  std::span<const std::string> tokens;  // id = index; needs [PAD] [UNK] [CLS] [SEP] [MASK]
  TokenizerSettings settings;
  int64_t max_length = 512;  // positions of the model
};

// Each throws UserError when a special token is missing, a token repeats or is not UTF-8.
std::string tokenizer_json_text(const TokenizerDescription& tokenizer);
std::string tokenizer_config_text(const TokenizerDescription& tokenizer);
std::string special_tokens_map_text();
// vocab.txt: one token per line.
std::string vocabulary_text(const TokenizerDescription& tokenizer);

// What the tokenizer_config.json of a folder says, and where that says nothing (or the folder is
// empty: there is none) whether the vocabulary looks lower-cased. UserError for what is neither
// true nor false.
TokenizerSettings read_tokenizer_settings(const std::filesystem::path& folder,
                                          const text::Vocabulary& vocabulary);
// Of these whether the tokenizer lower-cases. UserError when it does what ours does not.
bool is_lower_cased(const std::filesystem::path& folder, const text::Vocabulary& vocabulary);

}  // namespace cloze::models
