// A shard of a token store: the tokens of some megabytes of text in one file that is mapped into
// memory. All integers are little-endian.
//
//   0   char[8]   "clozetok"
//   8   u32       version, 1
//   12  u32       bytes of an id: 2 for vocabularies of up to 65,536 tokens, else 4
//   16  u64[4]    documents D, sentences N, tokens T, bytes of the text
//   48  u64       invalid UTF-8 sequences that were left out of the text
//   56  char[32]  key: XXH3-128 of the text and of all that decides its tokens, in hexadecimal
//   88  u64       XXH3-64 of the block table
//   96  u64       XXH3-64 of bytes [0, 96)
//   104 u32[D+1]  document_sentences: sentences before each document, and all
//       u32[D+1]  document_tokens: tokens before each document, and all
//       u32[N+1]  sentence_tokens: tokens before each sentence, and all
//       id[T]     ids, then zeros up to a multiple of 8
//       u64[]     block table: XXH3-64 of each 64 KiB from byte 104 on
//
// A block is checked when it is first read, so that opening a store costs the same whatever its
// size, and no damaged byte becomes a token.
//
// Errors: DataError that names the file and the bytes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/corpus/array_corpus.h"
#include "platform/files/file.h"

namespace cloze::data {

inline constexpr size_t kKeyDigits = 32;  // of a key, hexadecimal

struct TokenShardHeader {
  int64_t documents = 0;
  int64_t sentences = 0;
  int64_t tokens = 0;
  int64_t text_bytes = 0;
  int64_t invalid_utf8 = 0;
  int64_t bytes_per_id = 0;
  std::string key;
};

// The file's bytes. `corpus` is of fewer than 2^32 tokens.
std::string token_shard_bytes(const ArrayCorpus& corpus, std::string_view key, int64_t text_bytes,
                              int64_t invalid_utf8);

class TokenShard {
 public:
  explicit TokenShard(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  const TokenShardHeader& header() const { return header_; }

  // Documents and their sentences, as Corpus has them.
  int64_t sentences_in(int64_t document) const;
  int64_t tokens_in(int64_t document) const;
  int64_t tokens_before(int64_t document, int64_t sentence) const;
  void append_tokens(int64_t document, int64_t begin, int64_t end, std::vector<int32_t>& ids) const;

  // Checks every block.
  void verify() const;

 private:
  void read_header();
  void place_tables();  // by the header
  [[noreturn]] void throw_damaged(std::string_view what) const;
  void verify_bytes(uint64_t begin, uint64_t end) const;
  // Element `index` of a table of u32 that begins at `table`.
  int64_t element(uint64_t table, int64_t index) const;
  int64_t first_sentence(int64_t document) const { return element(document_sentences_, document); }

  std::filesystem::path path_;
  platform::MappedFile file_;
  TokenShardHeader header_;
  // The offsets at which the tables begin.
  uint64_t document_sentences_ = 0;
  uint64_t document_tokens_ = 0;
  uint64_t sentence_tokens_ = 0;
  uint64_t ids_ = 0;
  uint64_t block_table_ = 0;
  std::unique_ptr<std::atomic<bool>[]> is_verified_;  // by block
};

}  // namespace cloze::data
