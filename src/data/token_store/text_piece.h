// The text of a token store, cut into pieces that each become one shard.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/corpus/corpus.h"
#include "data/corpus/text_source.h"
#include "data/token_store/token_store.h"
#include "text/tokenizer.h"

namespace cloze::data {

// Parts of one file or of several, one after the other. Views into the sources' text.
class TextPiece {
 public:
  void add(std::string_view text, const TextSource& source);
  int64_t bytes() const { return bytes_; }

  // A name for the tokens that these rules make of it.
  std::string key(const TokenRules& rules) const;
  // Appends the documents to `corpus` and returns the number of invalid UTF-8 sequences. DataError
  // that names file, line and column of bad text.
  int64_t tokenize(const text::Tokenizer& tokenizer, const TokenRules& rules,
                   CorpusSink& corpus) const;

 private:
  struct Part {
    std::string_view text;
    const TextSource* source = nullptr;
    TextFormat format() const { return source->format(); }
  };

  std::string formats() const;

  std::vector<Part> parts_;
  int64_t bytes_ = 0;
};

// Cuts files into pieces of about `piece_bytes`, where documents begin; small files share one. A
// document is cut only when it is longer than eight pieces.
std::vector<TextPiece> cut_into_pieces(const std::vector<TextSource>& sources, int64_t piece_bytes);

}  // namespace cloze::data
