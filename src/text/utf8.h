// UTF-8: decoding one code point, encoding one code point.
// Ill-formed input: a maximal subpart of a sequence counts as one error (Unicode 14.0, section
// 3.9, table 3-8), as Python's and Rust's decoders have it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cloze::text {

struct DecodedCodePoint {
  char32_t code_point = 0;
  uint32_t bytes = 0;     // consumed, at least 1
  bool is_valid = false;  // false: `bytes` bytes are not a code point
};

// decode_utf8() where the byte at position is not ASCII.
DecodedCodePoint decode_utf8_multibyte(std::string_view text, size_t position);

// Decodes the code point that starts at text[position]; position < text.size().
inline DecodedCodePoint decode_utf8(std::string_view text, size_t position) {
  const auto byte = static_cast<uint8_t>(text[position]);
  if (byte < 0x80) return {byte, 1, true};
  return decode_utf8_multibyte(text, position);
}

// The code point that ends just before text[position]; position > 0. A byte that ends no valid
// sequence is returned alone, as invalid.
DecodedCodePoint decode_utf8_before(std::string_view text, size_t position);
// Writes 1 to 4 bytes, returns how many.
uint32_t encode_utf8(char32_t code_point, char* out);
void append_utf8(char32_t code_point, std::string& out);
bool is_valid_utf8(std::string_view text);
// All code points of a text; invalid bytes are U+0000.
std::u32string decoded_utf8(std::string_view text);
std::string_view without_byte_order_mark(std::string_view text);
// Code points of a valid text.
size_t count_code_points(std::string_view text);

}  // namespace cloze::text
