#include "serve/forms/base64.h"

#include <cstdint>

namespace cloze::serve {

std::string base64(std::span<const std::byte> bytes) {
  constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;  // three bytes, zeros behind the last
    for (size_t j = 0; j < 3; ++j) {
      group = group << 8 | (i + j < bytes.size() ? std::to_integer<uint32_t>(bytes[i + j]) : 0);
    }
    for (size_t j = 0; j < 4; ++j) {
      const bool is_there = i + j <= bytes.size();
      text += is_there ? kLetters[group >> (18 - 6 * j) & 63] : '=';
    }
  }
  return text;
}

}  // namespace cloze::serve
