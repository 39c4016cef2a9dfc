// The tokenizer files of a Hugging Face folder. Made from a vocabulary: with them
// AutoTokenizer.from_pretrained(folder) splits text as the vocabulary's BERT was trained to.
// Source: tokenizers 0.23 serialisation of BertNormalizer, BertPreTokenizer, WordPiece and
// TemplateProcessing; transformers 5 tokenizer_config.json.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "text/stated_rules.h"
#include "text/tokenizer_options.h"
#include "text/vocabulary.h"

namespace cloze::checkpoints {

inline constexpr const char* kTokenizerConfigName = "tokenizer_config.json";

struct TextFile {
  std::string name;
  std::string text;
};

struct TokenizerDescription {
  const text::Vocabulary& vocabulary;
  text::TokenizerOptions options = {};
  int64_t max_length = 512;  // positions of the model
};

// vocab.txt, tokenizer.json, tokenizer_config.json, special_tokens_map.json.
std::vector<TextFile> tokenizer_files(const TokenizerDescription& tokenizer);
std::string tokenizer_json_text(const TokenizerDescription& tokenizer);
std::string tokenizer_config_text(const TokenizerDescription& tokenizer);

// The special tokens that tokenizer.json has for every BERT.
inline constexpr std::array<std::string_view, 5> kSpecialTokens = {
    text::kPadToken, text::kUnknownToken, text::kClsToken, text::kSepToken, text::kMaskToken};
inline constexpr int kMaxWordCharacters = 100;  // longer words become [UNK], as in `tokenizers`
formats::Json single_template();                // [CLS] A [SEP]
formats::Json pair_template();                  // [CLS] A [SEP] B [SEP], the second half of type 1

// The rules in a tokenizer_config.json; none when there is no such file. UserError for a value that
// is neither true nor false.
text::StatedRules read_stated_rules(const std::filesystem::path& file);

// The object in a JSON file, empty where there is no such file. UserError for another value.
formats::Json object_in(const std::filesystem::path& file);

// Says whether that file names a class that leaves everything to tokenizer.json.
bool tokenizer_json_rules(const std::filesystem::path& folder);

// The tokenizer_class that the file names, as JSON, when it cuts text into words by other rules
// than BERT's.
std::optional<std::string> foreign_tokenizer_class(const std::filesystem::path& folder);
// UserError when the folder has such a class.
void require_bert_tokenizer(const std::filesystem::path& folder);

}  // namespace cloze::checkpoints
