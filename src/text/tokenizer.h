// The tokenizer: text → WordPiece ids, by one of two exact profiles, with byte offsets when asked.
//
//   google        BERT's 2018 tokenization.py: Unicode 14.0.0, final sigma, words of up to 200 code
//                 points
//   hugging face  what the `tokenizers` package does: its Unicode tables, words of up to 100
//
// The text is plain: no [CLS] or [SEP] is added, and "[MASK]" in it is three words, as in Google's
// code. Words that no pieces make up, or that are too long, become one [UNK].
// Thread-safe: immutable after construction.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "text/basic_tokenizer.h"
#include "text/tokenizer_options.h"
#include "text/vocabulary.h"
#include "text/word_piece.h"

namespace cloze::text {

// "hf" or "google"; UserError for any other name.
Profile profile_from_name(std::string_view name);
std::string_view profile_name(Profile profile);

struct Encoding {
  std::vector<int32_t> ids;
  std::vector<Offset> offsets;  // of each id: bytes of the original text
  uint64_t num_invalid = 0;     // invalid UTF-8 sequences, left out
};

// The number of tokens of a text, and of those without a row in the model.
struct TokenCount {
  int64_t tokens = 0;
  int64_t rowless = 0;
};

class Tokenizer {
 public:
  static constexpr int64_t kAllRows = std::numeric_limits<int64_t>::max();

  // Tokens from id `rows` on, which the model has no embedding for, become [UNK] (vocabulary.h).
  Tokenizer(Vocabulary vocabulary, TokenizerOptions options, int64_t rows = kAllRows);

  // Appends the ids of the text. Returns the number of invalid UTF-8 sequences, left out.
  uint64_t append_ids(std::string_view text, std::vector<int32_t>& ids) const;

  bool lacks_rows() const { return rows_ < vocabulary_.size(); }
  TokenCount count(std::string_view text) const;

  // Ids with offsets: from the first byte of a token's first code point to the end of its last.
  // UserError when the text is 4 GiB or more.
  Encoding encode(std::string_view text) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const TokenizerOptions& options() const { return options_; }

 private:
  uint64_t append_stored_ids(std::string_view text, std::vector<int32_t>& ids) const;
  void append_offsets(const Word& word, size_t first_piece, Encoding& encoding) const;
  void replace_rowless(std::span<int32_t> ids) const;

  Vocabulary vocabulary_;
  TokenizerOptions options_;
  BasicTokenizer basic_tokenizer_;
  WordPiece word_piece_;
  int64_t rows_;
};

}  // namespace cloze::text
