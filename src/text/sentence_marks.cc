#include "text/sentence_marks.h"

#include <array>

#include "text/ascii.h"
#include "text/python_string.h"
#include "text/unicode_tables.h"
#include "text/utf8.h"

namespace cloze::text {
namespace {

constexpr auto kClosers = std::to_array<std::string_view>(
    {"\"", "'", ")", "]", "\u201D", "\u2019", "\u00BB", "\u203A", "\uFF09", "\u300B", "\u3011"});
// German and Danish quotations end with what opens those of others.
constexpr auto kClosersThatOpenElsewhere =
    std::to_array<std::string_view>({"\u201C", "\u2018", "\u00AB", "\u2039"});
constexpr auto kJapaneseClosers = std::to_array<std::string_view>({"\u300D", "\u300F"});

// Quotes, brackets, dashes and marks of emphasis that a sentence may begin with.
constexpr auto kOpeners = std::to_array<std::string_view>(
    {"\"",     "'",      "(",      "[",      "`",      "*",      "_",      "-",
     "\u2013", "\u2014", "\u2015", "\u201C", "\u201D", "\u201E", "\u2018", "\u2019",
     "\u201A", "\u00AB", "\u00BB", "\u2039", "\u203A", "\u00BF", "\u00A1", "\u2022"});

template <typename Marks>
size_t length_of(const Marks& marks, std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  for (const std::string_view mark : marks) {
    if (rest.starts_with(mark)) return mark.size();
  }
  return 0;
}

size_t skip_openers(std::string_view text, size_t at) {
  while (at < text.size()) {
    size_t bytes = length_of(kOpeners, text, at);
    if (bytes == 0) bytes = space_length(text, at);
    if (bytes == 0) break;
    at += bytes;
  }
  return at;
}

// Says whether text[at - 1] is the apostrophe of "don't", with letters on both sides.
bool is_inner_apostrophe(std::string_view text, size_t at, size_t end) {
  constexpr std::string_view kCurly = "\u2019";
  const bool is_straight = text[at - 1] == '\'';
  const size_t bytes = is_straight ? 1 : kCurly.size();
  if (at == end || at <= bytes) return false;
  if (!is_straight && text.substr(at - bytes, bytes) != kCurly) return false;
  return is_word_character(decode_utf8_before(text, at - bytes).code_point);
}

}  // namespace

size_t spaced_stop_length(std::string_view text, size_t at) {
  return length_of(kSpacedStops, text, at);
}
size_t full_stop_length(std::string_view text, size_t at) {
  return length_of(kFullStops, text, at);
}
size_t stop_length(std::string_view text, size_t at) {
  const size_t spaced = spaced_stop_length(text, at);
  return spaced > 0 ? spaced : full_stop_length(text, at);
}

size_t closer_length(std::string_view text, size_t at) {
  const size_t closer = length_of(kClosers, text, at);
  return closer > 0 ? closer : japanese_closer_length(text, at);
}
size_t closer_after_spaced_stop_length(std::string_view text, size_t at) {
  const size_t closer = closer_length(text, at);
  return closer > 0 ? closer : length_of(kClosersThatOpenElsewhere, text, at);
}
size_t closing_quote_length(std::string_view text, size_t at) {
  constexpr auto kClosingQuotes =
      std::to_array<std::string_view>({"\"", "\u201D", "\u00BB", "\u203A"});
  return length_of(kClosingQuotes, text, at);
}
size_t japanese_closer_length(std::string_view text, size_t at) {
  return length_of(kJapaneseClosers, text, at);
}

size_t space_length(std::string_view text, size_t at) {
  if (static_cast<unsigned char>(text[at]) < 0x80) return is_ascii_space(text[at]) ? 1 : 0;
  const DecodedCodePoint next = decode_utf8(text, at);
  return next.is_valid && is_python_space(next.code_point) ? next.bytes : 0;
}

bool is_thai_or_lao(std::string_view text, size_t at) {
  const char32_t c = decode_utf8(text, at).code_point;
  return c >= 0x0E00 && c <= 0x0EFF;
}

bool is_unspaced(std::string_view text, size_t at) {
  const char32_t c = decode_utf8(text, at).code_point;
  const bool is_syllable = c >= 0x3040 && c <= 0x30FF;
  return is_syllable || contains(google_unicode_tables().ideographs, c);
}

bool is_upper_letter(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z';
  return c == 0x130 || find_lower(google_unicode_tables().lower_case, c) != nullptr;
}
bool is_lower_letter(char32_t c) {
  if (c < 0x80) return c >= 'a' && c <= 'z';
  return contains(google_unicode_tables().cased, c) && !is_upper_letter(c);
}

bool is_word_character(char32_t c) {
  if (c < 0x80) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  }
  const UnicodeTables& tables = google_unicode_tables();
  return !contains(tables.punctuation, c) && !contains(tables.spaces, c) &&
         !contains(tables.dropped, c);
}

std::string_view word_before(std::string_view text, size_t end) {
  size_t begin = end;
  while (begin > 0) {
    const DecodedCodePoint before = decode_utf8_before(text, begin);
    const bool belongs = before.code_point == U'.' || is_inner_apostrophe(text, begin, end) ||
                         (before.is_valid && is_word_character(before.code_point));
    if (!belongs) break;
    begin -= before.bytes;
  }
  return text.substr(begin, end - begin);
}

bool can_begin_sentence(std::string_view text, size_t at) {
  if (text[at] == '"' || text[at] == '\'' || text[at] == '(' || text[at] == '[') return true;
  at = skip_openers(text, at);
  if (at == text.size()) return false;
  if (is_ascii_digit(text[at]) || text[at] == '$' || text[at] == '#') return true;
  const DecodedCodePoint first = decode_utf8(text, at);
  if (first.code_point < 0x80) return is_upper_letter(first.code_point);
  return !is_lower_letter(first.code_point);
}

std::string_view word_at(std::string_view text, size_t at) {
  const size_t begin = skip_openers(text, at);
  size_t end = begin;
  while (end < text.size()) {
    const DecodedCodePoint next = decode_utf8(text, end);
    if (!next.is_valid || !is_word_character(next.code_point)) break;
    end += next.bytes;
  }
  return text.substr(begin, end - begin);
}

}  // namespace cloze::text
