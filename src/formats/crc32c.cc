#include "formats/crc32c.h"

#include <array>
#include <cstring>

namespace cloze::formats {
namespace {

constexpr uint32_t kReflectedPolynomial = 0x82F63B78u;
constexpr size_t kSlices = 8;
using Tables = std::array<std::array<uint32_t, 256>, kSlices>;

// tables[s][b]: the checksum of byte b followed by s zero bytes. Eight tables let one step take
// eight bytes (Kounavis and Berry, "slicing by 8", 2005).
constexpr Tables make_tables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? kReflectedPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t slice = 1; slice < kSlices; ++slice) {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[slice - 1][byte];
      tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

constexpr size_t kStep = kSlices;  // bytes at a time

#if defined(__SSE4_2__)
// The processor has an instruction for this polynomial.
uint32_t add_step(uint32_t crc, const std::byte* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, kStep);
  return static_cast<uint32_t>(__builtin_ia32_crc32di(crc, word));
}
#else
uint32_t little_endian_word(const std::byte* bytes) {
  return std::to_integer<uint32_t>(bytes[0]) | std::to_integer<uint32_t>(bytes[1]) << 8 |
         std::to_integer<uint32_t>(bytes[2]) << 16 | std::to_integer<uint32_t>(bytes[3]) << 24;
}

uint32_t add_step(uint32_t crc, const std::byte* bytes) {
  const uint32_t low = little_endian_word(bytes) ^ crc;
  const uint32_t high = little_endian_word(bytes + 4);
  return kTables[7][low & 0xFF] ^ kTables[6][(low >> 8) & 0xFF] ^ kTables[5][(low >> 16) & 0xFF] ^
         kTables[4][low >> 24] ^ kTables[3][high & 0xFF] ^ kTables[2][(high >> 8) & 0xFF] ^
         kTables[1][(high >> 16) & 0xFF] ^ kTables[0][high >> 24];
}
#endif

}  // namespace

uint32_t crc32c(std::span<const std::byte> bytes, uint32_t crc) {
  const std::byte* at = bytes.data();
  size_t left = bytes.size();
  crc = ~crc;
  for (; left >= kStep; left -= kStep, at += kStep) crc = add_step(crc, at);
  for (; left > 0; --left, ++at) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ std::to_integer<uint32_t>(*at)) & 0xFF];
  }
  return ~crc;
}

}  // namespace cloze::formats
