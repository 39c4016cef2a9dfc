// A WordPiece vocabulary: the tokens of a vocab.txt, one per line, where a token's id is its line
// number counted from 0. Pieces that continue a word begin with "##". A byte order mark is not part
// of the first token.
//
// Errors: DataError that names the file and line when a token is empty, repeated or not UTF-8, or
// when one of [PAD] [UNK] [CLS] [SEP] [MASK] is missing.
// Thread-safe: immutable after construction.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cloze::text {

inline constexpr std::string_view kPadToken = "[PAD]";
inline constexpr std::string_view kUnknownToken = "[UNK]";
inline constexpr std::string_view kClsToken = "[CLS]";
inline constexpr std::string_view kSepToken = "[SEP]";
inline constexpr std::string_view kMaskToken = "[MASK]";
inline constexpr std::string_view kContinuation = "##";

class Vocabulary {
 public:
  static Vocabulary load(const std::filesystem::path& path);
  // `source` is what errors name.
  static Vocabulary from_tokens(std::vector<std::string> tokens,
                                const std::string& source = "vocabulary");

  int32_t size() const { return static_cast<int32_t>(tokens_.size()); }
  std::optional<int32_t> find(std::string_view token) const;
  const std::string& token(int32_t id) const;  // 0 <= id < size()
  const std::vector<std::string>& tokens() const { return tokens_; }

  int32_t pad_id() const { return pad_id_; }
  int32_t unknown_id() const { return unknown_id_; }
  int32_t cls_id() const { return cls_id_; }
  int32_t sep_id() const { return sep_id_; }
  int32_t mask_id() const { return mask_id_; }

  std::string to_text() const;  // as vocab.txt
  // A guess, to catch a cased vocabulary used with lower-casing or the other way round: true when
  // no token but those in brackets, as [CLS] and <S>, has a capital letter of any script.
  bool likely_lower_cased() const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  // `source` is what messages call the vocabulary: the path, or "vocabulary".
  Vocabulary(std::vector<std::string> tokens, const std::string& source);
  int32_t special_id(std::string_view token, const std::string& source) const;

  std::vector<std::string> tokens_;
  std::unordered_map<std::string, int32_t, Hash, std::equal_to<>> ids_;
  int32_t pad_id_, unknown_id_, cls_id_, sep_id_, mask_id_;
};

// A vocabulary meets a model here. The model's table of word embeddings has rows for the ids below
// its vocab_size. The published pair of Graphcore's programs has 30,522 tokens and 30,400 rows: a
// token whose id has no row is read as [UNK]. Rows without a token are fine.

// Bound of the ids that data for a table of this many rows may hold: data with ids from twice the
// rows on belong to another model.
inline constexpr int64_t max_ids(int64_t rows) { return 2 * rows; }

// A sentence on the tokens that have no row; nothing when all have one. `source` is what messages
// call the vocabulary. UserError when a special token has no row, or half of the tokens have none.
std::optional<std::string> missing_rows(const Vocabulary& vocabulary, int64_t rows,
                                        std::string_view source);

}  // namespace cloze::text
