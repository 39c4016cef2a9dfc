// The Unicode tables of the two tokenizer profiles, committed as ranges so that token ids never
// move with the operating system. unicode_tables.cc is written by scripts/make_unicode_tables.
//
// google: Python 3.11's unicodedata (Unicode 14.0.0).
// hugging face: what the `tokenizers` package answers code point by code point; it mixes
// versions (Unicode 8 categories, newer decompositions and lower case).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace cloze::text {

// first to last, both included. Arrays of ranges are sorted and do not overlap.
struct CodePointRange {
  char32_t first, last;
};

struct CombiningRange {
  char32_t first, last;
  uint8_t combining_class;  // canonical combining class, never 0
};

// Every stride-th code point from first to last becomes itself + delta. U+0130, the only one whose
// lower case is two code points ("i" U+0307), is not listed.
struct LowerCaseRange {
  char32_t first, last;
  int32_t delta;
  uint32_t stride;
};

// The full canonical decomposition, 1 to 4 code points, the rest 0. Hangul syllables are computed.
struct Decomposition {
  char32_t code_point;
  char32_t target[4];
};

struct UnicodeTables {
  std::span<const CodePointRange> dropped;      // U+0000, U+FFFD, controls and format characters
  std::span<const CodePointRange> spaces;       // ends a word
  std::span<const CodePointRange> punctuation;  // a word of its own
  std::span<const CodePointRange> ideographs;   // a word of its own, whatever follows
  std::span<const CodePointRange> marks;        // non-spacing marks, dropped when lower-casing
  std::span<const CombiningRange> combining;
  std::span<const CodePointRange> not_combining;  // exceptions to `combining`
  std::span<const Decomposition> decompositions;
  std::span<const CodePointRange> not_decomposed;  // exceptions to `decompositions`
  std::span<const LowerCaseRange> lower_case;
  std::span<const LowerCaseRange> more_lower_case;  // in addition to `lower_case`
  // The characters that Python's str.lower() looks at around a capital sigma; empty: no final sigma
  // rule.
  std::span<const CodePointRange> cased;
  std::span<const CodePointRange> ignorable;
  std::span<const CodePointRange> alphanumeric;  // Python's str.isalnum(); google only
};

const UnicodeTables& google_unicode_tables();
const UnicodeTables& hugging_face_unicode_tables();

// The range that holds the code point, or null.
template <typename Range>
const Range* find_range(std::span<const Range> ranges, char32_t code_point) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), code_point,
                       [](char32_t value, const Range& range) { return value < range.first; });
  if (after == ranges.begin()) return nullptr;
  const Range& range = *(after - 1);
  return code_point <= range.last ? &range : nullptr;
}

inline bool contains(std::span<const CodePointRange> ranges, char32_t code_point) {
  return find_range(ranges, code_point) != nullptr;
}

// The range that says what the code point's lower case is, or null.
inline const LowerCaseRange* find_lower(std::span<const LowerCaseRange> ranges,
                                        char32_t code_point) {
  const LowerCaseRange* range = find_range(ranges, code_point);
  const bool is_hit = range != nullptr && (code_point - range->first) % range->stride == 0;
  return is_hit ? range : nullptr;
}

}  // namespace cloze::text
