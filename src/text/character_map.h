// Maps each code point to what it becomes when text is cut into words, for one choice of options.
//
// Most code points need one table look-up: they stay, vanish, end a word, or become a fixed string.
// The few whose effect depends on their neighbours (marks that are sorted, the capital sigma) are
// kGeneral: expand() lists the normalised code points they stand for.
//
// Order of the rules. google: drop, isolate ideographs, split at spaces, lower, decompose, drop
// marks, split at punctuation. hugging face: the same with lower-casing after the marks are
// dropped. Decomposing and dropping marks are what strips accents. Thread-safe: immutable after
// construction.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer_options.h"
#include "text/unicode_tables.h"

namespace cloze::text {

enum class CharacterKind : uint8_t {
  kWord,         // part of a word, unchanged
  kMapped,       // part of a word, replaced by mapping()
  kDropped,      // as if it were not there
  kSpace,        // ends a word
  kPunctuation,  // a word of its own, unchanged
  kIdeograph,    // a word of its own, replaced by mapping()
  kGeneral,      // see expand()
};

inline constexpr char32_t kCapitalIWithDot = 0x130;
inline constexpr char32_t kCapitalSigma = 0x3A3;
inline constexpr char32_t kFinalSigma = 0x3C2;
inline constexpr size_t kSigmaBytes = 2;  // of either, in UTF-8

// One normalised code point.
struct NormalizedUnit {
  char32_t code_point = 0;
  uint8_t combining_class = 0;
  bool is_dropped = false;      // a mark that is thrown away once the marks have been sorted
  bool is_first = true;         // the first that a code point decomposes to
  bool is_punctuation = false;  // a word of its own
};

class CharacterMap {
 public:
  explicit CharacterMap(const TokenizerOptions& options);

  // The one map of these options, made at the first call.
  static const CharacterMap& of(const TokenizerOptions& options);

  CharacterKind kind(char32_t code_point) const {
    return static_cast<CharacterKind>(entry(code_point) & kKindMask);
  }
  // UTF-8 of what the code point becomes; for kMapped and kIdeograph. At most 16 bytes.
  std::string_view mapping(char32_t code_point) const {
    const uint32_t word = entry(code_point);
    return {pool_.data() + (word >> kOffsetShift), word >> kLengthShift & kLengthMask};
  }
  // Appends what the code point stands for. A capital sigma is taken as not final.
  void expand(char32_t code_point, std::vector<NormalizedUnit>& units) const;

  // Says whether the capital sigma at byte `position` of the text becomes a final one, as Python's
  // str.lower() has it: a letter comes before it in the word, and none after it.
  bool is_final_sigma(std::string_view text, size_t position) const;

 private:
  using Block = std::vector<uint32_t>;
  static constexpr uint32_t kKindMask = 7;
  static constexpr uint32_t kLengthShift = 3;
  static constexpr uint32_t kLengthMask = 31;
  static constexpr uint32_t kOffsetShift = 8;
  static constexpr uint32_t kBlockBits = 7;
  static constexpr uint32_t kBlockMask = (1u << kBlockBits) - 1;

  uint32_t entry(char32_t code_point) const {
    const uint32_t block = blocks_[code_point >> kBlockBits];
    return entries_[block << kBlockBits | (code_point & kBlockMask)];
  }
  std::u32string lowered(char32_t code_point) const;
  std::u32string decomposed(char32_t code_point) const;
  // The unit of a code point that has become `lowered`.
  NormalizedUnit make_unit(char32_t code_point, char32_t lowered, bool is_first) const;
  uint32_t make_entry(char32_t code_point, std::vector<NormalizedUnit>& units);
  uint32_t store_mapping(CharacterKind kind, const std::vector<NormalizedUnit>& units);
  std::vector<char32_t> changing_code_points() const;  // ascending
  // Stores a block, unless it is among those known.
  uint16_t block_number(const Block& block, std::map<Block, uint16_t>& known);

  const UnicodeTables& tables_;
  bool lower_case_;
  bool strips_accents_;
  bool isolates_ideographs_;
  bool lower_first_;               // google: before decomposition
  std::vector<uint16_t> blocks_;   // code point >> kBlockBits → block number
  std::vector<uint32_t> entries_;  // blocks of entries: offset 24 bits, length 5, kind 3
  std::string pool_;               // the mappings, end to end
};

}  // namespace cloze::text
