#include "data/offline_packing/length_histogram_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "formats/markup.h"

namespace cloze::data {
namespace {

// All in user units.
constexpr double kWidth = 720;
constexpr double kHeight = 320;
constexpr double kLeft = 70;
constexpr double kTop = 40;
constexpr double kPlotWidth = 630;
constexpr double kPlotHeight = 220;
constexpr int64_t kMostBars = 128;

std::string label(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     formats::escaped_markup(text));
}

// Sequences of each bar; bar i holds lengths [i * tokens + 1, (i + 1) * tokens].
std::vector<int64_t> bars_of(const LengthHistogram& histogram, int64_t tokens) {
  const int64_t longest = histogram.longest();
  std::vector<int64_t> bars((longest + tokens - 1) / tokens);
  for (int64_t length = 1; length <= longest; ++length) {
    bars[(length - 1) / tokens] += histogram.counts[length];
  }
  return bars;
}

}  // namespace

std::string length_histogram_svg(const LengthHistogram& histogram, const std::string& title) {
  const int64_t longest = histogram.longest();
  const int64_t tokens = (longest + kMostBars - 1) / kMostBars;
  const std::vector<int64_t> bars = bars_of(histogram, tokens);
  const int64_t most = *std::max_element(bars.begin(), bars.end());
  const double bar_width = kPlotWidth / static_cast<double>(bars.size());
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      kWidth, kHeight);
  svg += label(kWidth / 2, 22, "middle", title);
  for (size_t i = 0; i < bars.size(); ++i) {
    const double height = kPlotHeight * static_cast<double>(bars[i]) / static_cast<double>(most);
    svg += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"#3b6ea5\"/>\n",
        kLeft + bar_width * static_cast<double>(i), kTop + kPlotHeight - height, bar_width * 0.9,
        height);
  }
  svg += fmt::format("<path d=\"M{0} {1}V{2}H{3}\" fill=\"none\" stroke=\"black\"/>\n", kLeft, kTop,
                     kTop + kPlotHeight, kLeft + kPlotWidth);
  for (int quarter = 0; quarter <= 4; ++quarter) {
    svg += label(kLeft + kPlotWidth * quarter / 4, kTop + kPlotHeight + 18, "middle",
                 std::to_string(longest * quarter / 4));
  }
  svg += label(kLeft + kPlotWidth / 2, kTop + kPlotHeight + 38, "middle", "tokens of a sequence");
  svg += label(kLeft - 8, kTop + 5, "end", std::to_string(most));
  svg += label(kLeft - 8, kTop + kPlotHeight, "end", "0");
  return svg + "</svg>\n";
}

}  // namespace cloze::data
