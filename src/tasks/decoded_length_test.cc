#include "tasks/decoded_length.h"

#include <gtest/gtest.h>

namespace cloze::tasks {
namespace {

TEST(DecodedLength, CountsCodePointsAndErrors) {
  EXPECT_EQ(decoded_length(""), 0u);
  EXPECT_EQ(decoded_length("α 漢😀"), 4u);
  EXPECT_EQ(decoded_length("\x93soir\xe9 \x94"), 8u) << "cp1252";
  EXPECT_EQ(decoded_length("a\xe6\xbc"), 2u) << "a character that is cut off is one error";
}

}  // namespace
}  // namespace cloze::tasks
