#include "data/offline_packing/length_histogram.h"

#include <gtest/gtest.h>

namespace cloze::data {
namespace {

size_t occurrences(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(LengthHistogramSvgTest, ABarForEachLengthOrGroupOfLengths) {
  LengthHistogram few;
  few.add(1, 10);
  few.add(4, 5);
  const std::string svg = length_histogram_svg(few, "a < b & c");
  EXPECT_EQ(occurrences(svg, "fill=\"#3b6ea5\""), 4u);
  EXPECT_EQ(occurrences(svg, "height=\"220.00\""), 1u) << "the longest bar";
  EXPECT_EQ(occurrences(svg, "height=\"110.00\""), 1u) << "half of it";
  EXPECT_NE(svg.find("a &lt; b &amp; c"), std::string::npos);

  LengthHistogram many;
  for (int64_t length = 1; length <= 512; ++length) many.add(length);
  EXPECT_EQ(occurrences(length_histogram_svg(many, "many"), "height=\"220.00\""), 128u);
}

}  // namespace
}  // namespace cloze::data
