#include "formats/markup.h"

#include <gtest/gtest.h>

namespace cloze::formats {
namespace {

TEST(Markup, TextStaysText) {
  EXPECT_EQ(escaped_markup("a < b && \"c\" > d"), "a &lt; b &amp;&amp; &quot;c&quot; > d");
  EXPECT_EQ(escaped_markup(""), "");
}

}  // namespace
}  // namespace cloze::formats
