// CRC32C, the Castagnoli checksum (polynomial 0x1EDC6F41, reflected), and the masked form that
// TFRecord and LevelDB store: a checksum of bytes that contain checksums is a weak one, so the
// stored value is rotated and shifted.
//
//   masked(c) = rotate_right(c, 15) + 0xA282EAD8   (mod 2^32)
//
// Sources: RFC 3720 B.4 (polynomial, test vectors); tensorflow/core/lib/hash/crc32c.h (mask).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cloze::formats {

// Continues from `crc`, the checksum of the bytes before: crc32c(ab) = crc32c(b, crc32c(a)).
uint32_t crc32c(std::span<const std::byte> bytes, uint32_t crc = 0);

inline uint32_t mask_crc32c(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xA282EAD8u; }
inline uint32_t masked_crc32c(std::span<const std::byte> bytes) {
  return mask_crc32c(crc32c(bytes));
}

}  // namespace cloze::formats
