#include "text/python_string.h"

#include <fmt/ranges.h>

#include "text/character_map.h"
#include "text/unicode_tables.h"
#include "text/utf8.h"

namespace cloze::text {
namespace {

// Says whether the nearest code point from `at` in the direction that is not ignorable is cased.
bool next_is_cased(const std::u32string& text, size_t at, int direction) {
  const UnicodeTables& tables = google_unicode_tables();
  for (size_t i = at + direction; i < text.size(); i += direction) {  // past 0 is past the end
    if (!contains(tables.ignorable, text[i])) return contains(tables.cased, text[i]);
  }
  return false;
}

void append_lower(const std::u32string& text, size_t at, std::string& out) {
  const char32_t c = text[at];
  if (c == kCapitalIWithDot) {
    out += "i\u0307";
  } else if (c == kCapitalSigma) {
    const bool is_final = next_is_cased(text, at, -1) && !next_is_cased(text, at, 1);
    append_utf8(is_final ? kFinalSigma : U'\u03C3', out);
  } else {
    const LowerCaseRange* range = find_lower(google_unicode_tables().lower_case, c);
    append_utf8(range == nullptr ? c : c + range->delta, out);
  }
}

}  // namespace

bool is_python_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

bool is_blank(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const DecodedCodePoint next = decode_utf8(text, at);
    if (!next.is_valid || !is_python_space(next.code_point)) return false;
    at += next.bytes;
  }
  return true;
}

bool is_python_word(char32_t c) {
  return c == U'_' || contains(google_unicode_tables().alphanumeric, c);
}

std::string python_lower(std::string_view text) {
  const std::u32string code_points = decoded_utf8(text);
  std::string lower;
  lower.reserve(text.size());
  for (size_t i = 0; i < code_points.size(); ++i) append_lower(code_points, i, lower);
  return lower;
}

std::vector<std::string_view> python_split(std::string_view text) {
  std::vector<std::string_view> words;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const DecodedCodePoint next = decode_utf8(text, at);
    if (is_python_space(next.code_point)) {
      if (at > begin) words.push_back(text.substr(begin, at - begin));
      begin = at + next.bytes;
    }
    at += next.bytes;
  }
  if (begin < text.size()) words.push_back(text.substr(begin));
  return words;
}

std::string python_single_spaced(std::string_view text) {
  return fmt::format("{}", fmt::join(python_split(text), " "));
}

}  // namespace cloze::text
