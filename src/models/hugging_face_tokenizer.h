// The tokenizer files of a Hugging Face folder. Made from a vocabulary: with them
// AutoTokenizer.from_pretrained(folder) splits text as the vocabulary's BERT was trained to.
// Source: tokenizers 0.23 serialisation of BertNormalizer, BertPreTokenizer, WordPiece and
// TemplateProcessing; transformers 5 tokenizer_config.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "text/vocabulary.h"

namespace cloze::models {

struct TokenizerDescription {
  std::span<const std::string> tokens;  // id = index; needs [PAD] [UNK] [CLS] [SEP] [MASK]
  bool lower_case = true;               // also strips accents, as BERT's uncased models do
  int64_t max_length = 512;             // positions of the model
};

// Each throws UserError when a special token is missing, a token repeats or is not UTF-8.
std::string tokenizer_json_text(const TokenizerDescription& tokenizer);
std::string tokenizer_config_text(const TokenizerDescription& tokenizer);
std::string special_tokens_map_text();
// vocab.txt: one token per line.
std::string vocabulary_text(const TokenizerDescription& tokenizer);

// Whether the tokenizer of a folder lower-cases: what its tokenizer_config.json says, or where that
// says nothing (or the folder is empty: there is none) what the vocabulary looks like. UserError
// when it asks for something that our tokenizer does not do.
bool is_lower_cased(const std::filesystem::path& folder, const text::Vocabulary& vocabulary);

}  // namespace cloze::models
