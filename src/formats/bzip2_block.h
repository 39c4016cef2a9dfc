// The blocks of a bzip2 file, each by itself.
//
//   file   := stream*                     each begins on a byte
//   stream := "BZh" level | block* | end
//   block  := 0x314159265359 (48 bits) | CRC-32 of its text | ...      on any bit; up to 900 kB of
//                                                                      text before run lengths
//   end    := 0x177245385090 (48 bits) | CRC-32 of the stream | zero bits up to the next byte
//
// The CRC of a stream follows from those of its blocks: crc = rotate_left(crc, 1) ^ block's. No
// length is stored: a block ends where the next mark stands, and what looks like a mark may be
// content. Only decoding tells: a block cut at a false mark breaks, or has another CRC.
//
// Source: the format as described in "BZIP2: Format Specification" (J. Tsai, 2016).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace cloze::formats {

// Bits are numbered from the highest of the first byte on.
class BitView {
 public:
  explicit BitView(std::span<const std::byte> bytes) : bytes_(bytes) {}
  uint64_t size() const { return bytes_.size() * 8; }
  // The `count` bits from `bit` on, at most 56. Bits after the last one are 0.
  uint64_t read(uint64_t bit, int count) const;
  uint8_t byte(uint64_t index) const {
    return index < bytes_.size() ? std::to_integer<uint8_t>(bytes_[index]) : uint8_t{0};
  }

 private:
  std::span<const std::byte> bytes_;
};

enum class Bzip2Mark { kNone, kBlock, kEnd };

inline constexpr int kBzip2MarkBits = 48;
inline constexpr int kBzip2CrcBits = 32;
// No block is longer, compressed: 900 kB that do not shrink, and their tables.
inline constexpr uint64_t kLongestBzip2BlockBits = uint64_t{8} * (1 << 20);

Bzip2Mark bzip2_mark_at(const BitView& file, uint64_t bit);
// The place of the next mark of either kind, from `begin` on and before `end`.
std::optional<uint64_t> find_bzip2_mark(const BitView& file, uint64_t begin, uint64_t end);

// Bits [begin, end) of a file, beginning with the mark of a block.
struct Bzip2BlockBits {
  uint64_t begin = 0;
  uint64_t end = 0;
};
// The block's text, its CRC verified. Nothing when the bits are not exactly one block.
std::optional<std::string> decode_bzip2_block(const BitView& file, const Bzip2BlockBits& block);

}  // namespace cloze::formats
