#include "text/utf8.h"

#include <algorithm>

namespace cloze::text {
namespace {

struct LeadByte {
  uint32_t bytes = 0;           // length of the whole sequence; 0: no sequence starts so
  uint8_t second_first = 0x80;  // allowed second bytes: they exclude overlong forms,
  uint8_t second_last = 0xBF;   // surrogates and what lies beyond U+10FFFF
};

LeadByte classify_lead(uint8_t byte) {
  if (byte < 0xC2) return {0};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

}  // namespace

DecodedCodePoint decode_utf8_multibyte(std::string_view text, size_t position) {
  const auto byte_at = [&](size_t i) { return static_cast<uint8_t>(text[position + i]); };
  const LeadByte lead = classify_lead(byte_at(0));
  if (lead.bytes == 0) return {0, 1, false};
  char32_t code_point = byte_at(0) & (0x7Fu >> lead.bytes);
  const size_t available = std::min<size_t>(lead.bytes, text.size() - position);
  for (uint32_t i = 1; i < available; ++i) {
    const uint8_t byte = byte_at(i);
    const bool is_allowed =
        i == 1 ? byte >= lead.second_first && byte <= lead.second_last : (byte & 0xC0u) == 0x80u;
    if (!is_allowed) return {0, i, false};
    code_point = code_point << 6 | (byte & 0x3Fu);
  }
  if (available < lead.bytes) return {0, static_cast<uint32_t>(available), false};
  return {code_point, lead.bytes, true};
}

DecodedCodePoint decode_utf8_before(std::string_view text, size_t position) {
  // A lead byte is never a continuation byte, so a sequence found backwards is found forwards too.
  const size_t limit = std::min<size_t>(4, position);
  for (uint32_t length = 1; length <= limit; ++length) {
    const uint8_t byte = static_cast<uint8_t>(text[position - length]);
    if ((byte & 0xC0u) == 0x80u) continue;
    const DecodedCodePoint decoded = decode_utf8(text.substr(0, position), position - length);
    if (decoded.is_valid && decoded.bytes == length) return decoded;
    break;
  }
  return {0, 1, false};
}

uint32_t encode_utf8(char32_t code_point, char* out) {
  const auto continuation = [&](int shift) {
    return static_cast<char>(0x80u | (code_point >> shift & 0x3Fu));
  };
  if (code_point < 0x80) {
    out[0] = static_cast<char>(code_point);
    return 1;
  }
  if (code_point < 0x800) {
    out[0] = static_cast<char>(0xC0u | code_point >> 6);
    out[1] = continuation(0);
    return 2;
  }
  if (code_point < 0x10000) {
    out[0] = static_cast<char>(0xE0u | code_point >> 12);
    out[1] = continuation(6);
    out[2] = continuation(0);
    return 3;
  }
  out[0] = static_cast<char>(0xF0u | code_point >> 18);
  out[1] = continuation(12);
  out[2] = continuation(6);
  out[3] = continuation(0);
  return 4;
}

void append_utf8(char32_t code_point, std::string& out) {
  char bytes[4];
  out.append(bytes, encode_utf8(code_point, bytes));
}

bool is_valid_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const DecodedCodePoint decoded = decode_utf8(text, i);
    if (!decoded.is_valid) return false;
    i += decoded.bytes;
  }
  return true;
}

std::u32string decoded_utf8(std::string_view text) {
  std::u32string code_points;
  for (size_t at = 0; at < text.size();) {
    const DecodedCodePoint next = decode_utf8(text, at);
    code_points += next.code_point;
    at += next.bytes;
  }
  return code_points;
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

size_t count_code_points(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace cloze::text
