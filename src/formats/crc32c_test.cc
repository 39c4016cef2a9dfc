#include "formats/crc32c.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace cloze::formats {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(Crc32cTest, KnownAnswersOfRfc3720) {
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xE3069283u);
  EXPECT_EQ(crc32c({}), 0u);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte{0x00})), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte{0xFF})), 0x62A8AB43u);
  std::vector<std::byte> ascending;
  for (int i = 0; i < 32; ++i) ascending.push_back(std::byte(i));
  EXPECT_EQ(crc32c(ascending), 0x46DD794Eu);
}

TEST(Crc32cTest, ContinuesAcrossAnySplit) {
  const std::string_view text = "the quick brown fox jumps over the lazy dog";
  const uint32_t whole = crc32c(bytes_of(text));
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(crc32c(bytes_of(text.substr(cut)), crc32c(bytes_of(text.substr(0, cut)))), whole);
  }
}

TEST(Crc32cTest, MaskRotatesAndAdds) {
  EXPECT_EQ(mask_crc32c(0), 0xA282EAD8u);
  EXPECT_EQ(mask_crc32c(1), 0xA284EAD8u);
  EXPECT_EQ(mask_crc32c(0x8000), 0xA282EAD9u);
}

}  // namespace
}  // namespace cloze::formats
