// Small things about text whose letters and spaces matter only as far as they are ASCII.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace cloze::text {

constexpr bool is_ascii_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr bool is_ascii_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_ascii_letter(char c) { return is_ascii_upper(c) || (c >= 'a' && c <= 'z'); }
constexpr bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

// The text without the ASCII white space around it.
inline std::string_view trim_ascii(std::string_view text) {
  while (!text.empty() && is_ascii_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_ascii_space(text.back())) text.remove_suffix(1);
  return text;
}

// Bytes outside A .. Z stay as they are.
inline std::string lower_ascii(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = is_ascii_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

// Takes the first line off `text`; the "\n" goes too.
inline std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

}  // namespace cloze::text
