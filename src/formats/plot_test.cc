#include "formats/plot.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cloze::formats {
namespace {

TEST(PlotTest, AboutSixTicks) {
  EXPECT_DOUBLE_EQ(tick_of(6.0), 1.0);
  EXPECT_DOUBLE_EQ(tick_of(0.9), 0.2);
  EXPECT_DOUBLE_EQ(tick_of(300.0), 50.0);
  for (double span = 1e-6; span < 1e9; span *= 1.37) {
    EXPECT_LE(span / tick_of(span), 6.5);
    EXPECT_GT(span / tick_of(span), 2.4);
  }
}

TEST(PlotTest, AxesEndAtTicksAroundTheFiniteValues) {
  const PlotAxis axis = axis_around("loss", {0.31, NAN, 2.9, INFINITY});
  EXPECT_DOUBLE_EQ(axis.low, 0.0);
  EXPECT_DOUBLE_EQ(axis.high, 3.0);
  EXPECT_EQ(axis_around("", {}).high, 1.0);
  const PlotAxis constant = axis_around("", {5.0, 5.0});
  EXPECT_EQ(constant.low, 4.0);
  EXPECT_EQ(constant.high, 6.0);
}

TEST(PlotTest, DrawsWhatIsFinite) {
  const PlotArea area({"step", 0, 10}, {"a < b", 0, 1});
  EXPECT_EQ(area.line({{0, 0}, {5, NAN}, {10, 1}}, "curve"),
            "<path d=\"M70.0 292.0L940.0 36.0\" class=\"curve\"/>\n");
  EXPECT_EQ(area.line({{NAN, 0}}, "curve"), "");
  EXPECT_EQ(area.dots({{10, 0.5}}, 3),
            "<circle cx=\"940.0\" cy=\"164.0\" r=\"3\" class=\"dot\"><title>step: 10, a &lt; b: "
            "0.5</title></circle>\n");
  const std::string svg = area.svg("Loss & more", "<g/>");
  EXPECT_NE(svg.find("aria-label=\"Loss &amp; more\""), std::string::npos);
  EXPECT_NE(svg.find(">0.8</text>"), std::string::npos) << svg;
  EXPECT_NE(svg.find(">a &lt; b</text>"), std::string::npos);
  EXPECT_NE(svg.find("<g/></svg>"), std::string::npos);
}

}  // namespace
}  // namespace cloze::formats
