// A token store: text that was tokenised once, as a folder.
//
//   store.json      what is in it; written last, so that a folder without it is not a store
//   vocab.txt       the vocabulary of the ids
//   KEY.tokens      shards (token_shard.h), named by what decides their content
//
// Documents are numbered through all shards in the order of the text. All shards are opened up
// front and read on demand: any place of a store of any size is reached directly.
//
// Errors: UserError when the folder is not a store; DataError that names the file when it is
// damaged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/corpus/corpus.h"
#include "data/corpus/corpus_text.h"
#include "data/token_store/token_shard.h"
#include "text/tokenizer.h"

namespace cloze::data {

inline constexpr const char* kStoreName = "store.json";
inline constexpr const char* kStoreVocabularyName = "vocab.txt";
inline constexpr const char* kShardSuffix = ".tokens";

// XXH3-128 of vocab.txt.
std::string vocabulary_hash(const text::Vocabulary& vocabulary);

// Goes up with every change that splits sentences otherwise. Stores without a number have 1.
inline constexpr int kSplitterVersion = 3;

// Everything that decides the tokens of a text.
struct TokenRules {
  std::string vocabulary;  // its hash
  text::TokenizerOptions tokenizer;
  std::vector<TextFormat> formats;  // of its texts, each once, in the order of the enumeration
  // Split the sentences, where a form asks for it.
  text::StopHabits habits;
  int splitter = kSplitterVersion;
  bool operator==(const TokenRules&) const = default;
};

// The content of store.json.
struct TokenStoreManifest {
  TokenRules rules;
  int64_t documents = 0;
  int64_t sentences = 0;
  int64_t tokens = 0;
  int64_t text_bytes = 0;
  int64_t invalid_utf8 = 0;
  std::vector<std::string> shards;  // keys, in the order of the text
};

// Says whether a text of the store was split into sentences.
bool is_split(const TokenRules& rules);
// Says whether its sentences were split as they would be now, or were never split.
bool is_split_as_now(const TokenRules& rules);

bool is_token_store(const std::filesystem::path& folder);
TokenStoreManifest read_token_store_manifest(const std::filesystem::path& folder);
std::string token_store_manifest_text(const TokenStoreManifest& manifest);
std::filesystem::path shard_path(const std::filesystem::path& folder, std::string_view key);

class TokenStore final : public Corpus {
 public:
  explicit TokenStore(std::filesystem::path folder);

  const std::filesystem::path& folder() const { return folder_; }
  const TokenStoreManifest& manifest() const { return manifest_; }
  const text::Vocabulary& vocabulary() const { return vocabulary_; }
  const std::vector<TokenShard>& shards() const { return shards_; }
  // A name for this content; other text, rules or order have another name.
  std::string fingerprint() const;

  int64_t documents() const override { return manifest_.documents; }
  int64_t sentences_in(int64_t document) const override;
  int64_t tokens_in(int64_t document) const override;
  int64_t tokens_before(int64_t document, int64_t sentence) const override;
  void append_tokens(int64_t document, int64_t begin, int64_t end,
                     std::vector<int32_t>& ids) const override;

 private:
  struct Place {
    const TokenShard& shard;
    int64_t document;  // in the shard
  };
  Place place_of(int64_t document) const;
  void check_counts() const;

  std::filesystem::path folder_;
  TokenStoreManifest manifest_;
  text::Vocabulary vocabulary_;
  std::vector<TokenShard> shards_;
  std::vector<int64_t> document_ends_;  // by shard
};

}  // namespace cloze::data
