#include "base/float16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cloze {
namespace {

// The compiler's own type is the reference.
uint16_t bits_of(_Float16 value) { return std::bit_cast<uint16_t>(value); }

TEST(Float16, EveryValueBecomesTheSameFloatAndComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float16 half;
    half.bits = static_cast<uint16_t>(bits);
    const auto value = static_cast<float>(half);
    const auto expected = static_cast<float>(std::bit_cast<_Float16>(half.bits));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value) && std::isnan(static_cast<float>(float16(value))));
      continue;
    }
    EXPECT_EQ(value, expected) << bits;
    EXPECT_EQ(std::signbit(value), std::signbit(expected)) << bits;
    EXPECT_EQ(float16(value).bits, bits);
  }
}

TEST(Float16, RoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const auto low = static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(bits)));
    const float high =
        bits == 0x7bff
            ? 65536.0f
            : static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(bits + 1)));
    const float middle = (low + high) / 2;
    const float infinity = std::numeric_limits<float>::infinity();
    for (const float value :
         {middle, std::nextafter(middle, infinity), std::nextafter(middle, 0.0f)}) {
      EXPECT_EQ(float16(value).bits, bits_of(static_cast<_Float16>(value))) << value;
      EXPECT_EQ(float16(-value).bits, bits_of(static_cast<_Float16>(-value))) << value;
    }
  }
  EXPECT_EQ(float16(1e30f).bits, 0x7c00);
}

}  // namespace
}  // namespace cloze
