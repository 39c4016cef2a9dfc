#include "formats/bzip2_block.h"

#include <gtest/gtest.h>

#include <span>
#include <string>

namespace cloze::formats {
namespace {

// "hello hello hello\n" as bzip2 1.0.8 writes it.
constexpr unsigned char kHello[] = {
    0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0xe5, 0xb5, 0xf3, 0x09, 0x00, 0x00,
    0x04, 0x51, 0x00, 0x00, 0x10, 0x40, 0x00, 0x02, 0x44, 0xa0, 0x00, 0x21, 0xb5, 0x18, 0x0c, 0x02,
    0x90, 0x69, 0xc2, 0xa3, 0x0b, 0xb9, 0x22, 0x9c, 0x28, 0x48, 0x72, 0xda, 0xf9, 0x84, 0x80};

BitView hello() { return BitView(std::as_bytes(std::span(kHello))); }

TEST(Bzip2Block, BitsAreReadFromTheHighestOn) {
  EXPECT_EQ(hello().read(0, 24), 0x425A68u);
  EXPECT_EQ(hello().read(1, 8), 0x84u);
  EXPECT_EQ(hello().read(7, 0), 0u);
  EXPECT_EQ(hello().read(hello().size() - 4, 12), (kHello[sizeof kHello - 1] & 0xFu) << 8);
}

TEST(Bzip2Block, MarksAreFoundAtAnyBit) {
  EXPECT_EQ(bzip2_mark_at(hello(), 32), Bzip2Mark::kBlock);
  EXPECT_EQ(find_bzip2_mark(hello(), 0, hello().size()), 32u);
  const auto end = find_bzip2_mark(hello(), 33, hello().size());
  ASSERT_TRUE(end);
  EXPECT_EQ(bzip2_mark_at(hello(), *end), Bzip2Mark::kEnd);
  EXPECT_EQ(find_bzip2_mark(hello(), *end + 1, hello().size()), std::nullopt);
  EXPECT_EQ(find_bzip2_mark(hello(), 33, *end), std::nullopt);
  for (int shift = 0; shift < 8; ++shift) {
    std::string bytes(16, '\0');
    for (int i = 0; i < 48; ++i) {
      const int to = 24 + shift + i;
      if (hello().read(static_cast<uint64_t>(32 + i), 1) == 1) {
        bytes[static_cast<size_t>(to / 8)] |= static_cast<char>(0x80 >> to % 8);
      }
    }
    const BitView shifted(std::as_bytes(std::span(bytes)));
    EXPECT_EQ(find_bzip2_mark(shifted, 0, 128), static_cast<uint64_t>(24 + shift));
  }
}

TEST(Bzip2Block, ABlockIsDecodedByItselfAndNothingElseIs) {
  const uint64_t end = *find_bzip2_mark(hello(), 33, hello().size());
  EXPECT_EQ(decode_bzip2_block(hello(), {.begin = 32, .end = end}), "hello hello hello\n");
  for (const uint64_t other : {uint64_t{112}, end - 8, end - 1, end + 1, end + 80}) {
    EXPECT_EQ(decode_bzip2_block(hello(), {.begin = 32, .end = other}), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace cloze::formats
