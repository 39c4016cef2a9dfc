#include "base/whole_number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace cloze {
namespace {

TEST(NumberIn, TakesAllOfTheTextOrNothing) {
  EXPECT_EQ(number_in<int64_t>("250"), 250);
  EXPECT_EQ(number_in<int64_t>("-3"), -3);
  EXPECT_EQ(number_in<double>("2.5e1"), 25.0);
  for (const char* text : {"", " 1", "1 ", "+1", "1x", "x", "1.5", "9223372036854775808"}) {
    EXPECT_EQ(number_in<int64_t>(text), std::nullopt) << text;
  }
  EXPECT_EQ(number_in<double>("1e999"), std::nullopt);
}

TEST(NumberIn, KeepsToItsType) {
  EXPECT_EQ(number_in<int32_t>("2147483647"), 2147483647);
  EXPECT_EQ(number_in<int32_t>("2147483648"), std::nullopt);
  EXPECT_EQ(number_in<uint32_t>("-1"), std::nullopt);
}

}  // namespace
}  // namespace cloze
