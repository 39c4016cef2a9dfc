#include "text/word_borders.h"

#include <span>

#include "text/unicode_tables.h"
#include "text/utf8.h"

namespace cloze::text {
namespace {

// Scripts that have words without spaces between them, in the order of their code points.
constexpr CodePointRange kUnspaced[] = {
    {0x0E00, 0x0EFF},    // Thai, Lao
    {0x1000, 0x109F},    // Myanmar
    {0x1100, 0x11FF},    // Hangul Jamo
    {0x1780, 0x17FF},    // Khmer
    {0x1950, 0x19FF},    // Tai Le, New Tai Lue, Khmer symbols
    {0x1A20, 0x1AAF},    // Tai Tham
    {0x1B00, 0x1B7F},    // Balinese
    {0x3005, 0x3007},    // ideographic iteration mark, closing mark and zero
    {0x3041, 0x30FF},    // Hiragana, Katakana
    {0x3130, 0x318F},    // Hangul compatibility Jamo
    {0x31F0, 0x31FF},    // Katakana phonetic extensions
    {0xA980, 0xA9FF},    // Javanese, Myanmar extended B
    {0xAA60, 0xAADF},    // Myanmar extended A, Tai Viet
    {0xAC00, 0xD7FF},    // Hangul syllables
    {0xFF66, 0xFF9F},    // halfwidth Katakana
    {0x1AFF0, 0x1B16F},  // Kana extended
};

bool is_mark(char32_t c) { return contains(google_unicode_tables().marks, c); }

bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }

bool joins_digits(char32_t c) { return c == U'.' || c == U','; }

// Says whether it makes up words with others.
bool is_of_words(const DecodedCodePoint& c) {
  const UnicodeTables& tables = google_unicode_tables();
  if (!c.is_valid) return false;
  for (const auto ranges : {tables.dropped, tables.spaces, tables.punctuation, tables.ideographs,
                            std::span<const CodePointRange>(kUnspaced)}) {
    if (contains(ranges, c.code_point)) return false;
  }
  return true;
}

// A decimal point or a comma between two digits; `at` is on one of its sides.
bool is_in_number(std::string_view text, size_t at, const DecodedCodePoint& before,
                  const DecodedCodePoint& after) {
  if (is_digit(before.code_point) && joins_digits(after.code_point)) {
    return at + 1 < text.size() && is_digit(text[at + 1]);
  }
  if (joins_digits(before.code_point) && is_digit(after.code_point)) {
    return at >= 2 && is_digit(text[at - 2]);
  }
  return false;
}

bool is_inside_word(std::string_view text, size_t at) {
  if (at == 0 || at == text.size()) return false;
  const DecodedCodePoint before = decode_utf8_before(text, at), after = decode_utf8(text, at);
  if (after.is_valid && is_mark(after.code_point)) return true;
  return (is_of_words(before) && is_of_words(after)) || is_in_number(text, at, before, after);
}

}  // namespace

Offset widened_to_words(std::string_view text, Offset part) {
  while (is_inside_word(text, part.begin)) {
    part.begin -= decode_utf8_before(text, part.begin).bytes;
  }
  while (is_inside_word(text, part.end)) part.end += decode_utf8(text, part.end).bytes;
  return part;
}

}  // namespace cloze::text
