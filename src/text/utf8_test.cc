#include "text/utf8.h"

#include <gtest/gtest.h>

namespace cloze::text {
namespace {

TEST(Utf8Test, EveryCodePointRoundTripsForwardsAndBackwards) {
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text = "x";
    append_utf8(c, text);
    const DecodedCodePoint forwards = decode_utf8(text, 1);
    const DecodedCodePoint backwards = decode_utf8_before(text, text.size());
    ASSERT_TRUE(forwards.is_valid && backwards.is_valid) << std::hex << static_cast<uint32_t>(c);
    ASSERT_EQ(forwards.code_point, c);
    ASSERT_EQ(backwards.code_point, c);
    ASSERT_EQ(forwards.bytes, text.size() - 1);
    ASSERT_EQ(backwards.bytes, text.size() - 1);
  }
}

// Lengths of the ill-formed subparts of a text, in order.
std::vector<uint32_t> errors_of(std::string_view text) {
  std::vector<uint32_t> lengths;
  for (size_t i = 0; i < text.size();) {
    const DecodedCodePoint decoded = decode_utf8(text, i);
    if (!decoded.is_valid) lengths.push_back(decoded.bytes);
    i += decoded.bytes;
  }
  return lengths;
}

TEST(Utf8Test, IllFormedSequencesAreCutAtMaximalSubparts) {
  using Lengths = std::vector<uint32_t>;
  EXPECT_EQ(errors_of("a\x80z"), Lengths({1}));                     // stray continuation
  EXPECT_EQ(errors_of("\xC0\xAF"), Lengths({1, 1}));                // overlong '/'
  EXPECT_EQ(errors_of("\xE0\x80\xAF"), Lengths({1, 1, 1}));         // overlong, three bytes
  EXPECT_EQ(errors_of("\xED\xA0\x80"), Lengths({1, 1, 1}));         // a surrogate
  EXPECT_EQ(errors_of("\xF4\x90\x80\x80"), Lengths({1, 1, 1, 1}));  // beyond U+10FFFF
  EXPECT_EQ(errors_of("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), Lengths({2, 1, 3, 2}));
  EXPECT_EQ(errors_of("abc\xE2\x82"), Lengths({2}));  // truncated at the end
  EXPECT_EQ(errors_of("\xFF\xFE"), Lengths({1, 1}));
  EXPECT_TRUE(is_valid_utf8("αβγ 漢字 😀"));
  EXPECT_FALSE(is_valid_utf8("α\x80"));
  EXPECT_EQ(count_code_points("αβγ 漢字 😀"), 8u);
}

TEST(Utf8Test, TakesAByteOrderMarkOffTheFront) {
  EXPECT_EQ(without_byte_order_mark("\uFEFFa\uFEFF"), "a\uFEFF");
  EXPECT_EQ(without_byte_order_mark("a"), "a");
  EXPECT_EQ(without_byte_order_mark(""), "");
}

TEST(Utf8Test, DecodingBackwardsStepsOverInvalidBytesOneByOne) {
  const std::string_view text = "\xCE\xB1\x80\xE2\x82";
  EXPECT_FALSE(decode_utf8_before(text, 5).is_valid);
  EXPECT_EQ(decode_utf8_before(text, 5).bytes, 1u);
  EXPECT_FALSE(decode_utf8_before(text, 3).is_valid);
  EXPECT_EQ(decode_utf8_before(text, 2).code_point, U'α');
}

}  // namespace
}  // namespace cloze::text
