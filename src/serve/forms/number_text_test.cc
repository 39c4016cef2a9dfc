#include "serve/forms/number_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "formats/json.h"

namespace cloze::serve {
namespace {

TEST(NumberText, IsTheShortestThatReadsBack) {
  EXPECT_EQ(number_text(0.1f), "0.1");
  EXPECT_EQ(number_text(-0.25f), "-0.25");
  EXPECT_EQ(number_text(1.0f), "1");
  uint32_t bits = 12345;
  for (int i = 0; i < 100'000; ++i) {
    bits = bits * 1664525 + 1013904223;
    const auto value = std::bit_cast<float>(bits);
    if (!(std::abs(value) > 1e-4f && std::abs(value) < 1e6f)) continue;
    const std::string text = number_text(value);
    EXPECT_EQ(std::strtof(text.c_str(), nullptr), value) << text;
    char shortest[32];
    const auto end = std::to_chars(shortest, shortest + 32, value).ptr;
    EXPECT_LE(text.size(), static_cast<size_t>(end - shortest)) << text;
    EXPECT_TRUE(formats::Json::parse(text).is_number()) << text;
  }
}

}  // namespace
}  // namespace cloze::serve
