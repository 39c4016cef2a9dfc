#include "base/byte_size.h"

#include <gtest/gtest.h>

namespace cloze {
namespace {

TEST(ByteSize, ReadsUnits) {
  EXPECT_EQ(byte_size("8GiB"), int64_t{8} << 30);
  EXPECT_EQ(byte_size("1.5 KiB"), 1536);
  EXPECT_EQ(byte_size("20MB"), 20'000'000);
  EXPECT_EQ(byte_size("2TB"), 2'000'000'000'000);
}

TEST(ByteSize, TakesNothingElse) {
  for (const char* wrong : {"", "8", "GiB", "0GiB", "-1GiB", "8 gib", "8  GiB", "nanGiB", "infGiB",
                            "8GiB more", "99999999999999999999", "99999999999GB"}) {
    EXPECT_FALSE(byte_size(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace cloze
