#include "data/offline_packing/length_histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <numeric>

#include "base/division.h"
#include "base/error.h"
#include "formats/json.h"
#include "formats/markup.h"
#include "platform/files/file.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace cloze::data {
namespace {

constexpr int64_t kLongestLength = 1 << 20;
constexpr int64_t kMostSequences = int64_t{1} << 40;

// Takes a number in [low, high] off the front, and the spaces after it.
bool take_number(std::string_view& text, int64_t low, int64_t high, int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < low || number > high) return false;
  text.remove_prefix(end - text.data());
  text = text::trim_ascii(text);
  return true;
}

// Sizes of the picture, all in user units.
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
  std::vector<int64_t> bars(divide_up(longest, tokens));
  for (int64_t length = 1; length <= longest; ++length) {
    bars[(length - 1) / tokens] += histogram.counts[length];
  }
  return bars;
}

constexpr double kGoldenRatio = 0.6180339887498949;

}  // namespace

int64_t LengthHistogram::longest() const {
  int64_t length = std::ssize(counts) - 1;
  while (length > 0 && counts[length] == 0) --length;
  return std::max<int64_t>(length, 0);
}

int64_t LengthHistogram::num_sequences() const {
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

int64_t LengthHistogram::num_tokens() const {
  int64_t tokens = 0;
  for (int64_t length = 0; length < std::ssize(counts); ++length) tokens += length * counts[length];
  return tokens;
}

void LengthHistogram::add(int64_t length, int64_t count) {
  CLOZE_CHECK(length > 0 && count >= 0, "{} sequences of {} tokens", count, length);
  if (length >= std::ssize(counts)) counts.resize(length + 1);
  counts[length] += count;
}

Result<LengthHistogram> parse_length_histogram(std::string_view text) {
  LengthHistogram histogram;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t offset = text.size() - rest.size();
    std::string_view line = text::trim_ascii(text::take_line(rest));
    if (line.empty() || line.front() == '#') continue;
    int64_t length = 0;
    int64_t count = 0;
    if (!take_number(line, 1, kLongestLength, length) ||
        !take_number(line, 0, kMostSequences, count) || !line.empty()) {
      return ParseError{"is not a line with a length and a count", offset};
    }
    histogram.add(length, count);
  }
  if (histogram.num_sequences() == 0) return ParseError{"holds no sequence", 0};
  return histogram;
}

std::string length_histogram_text(const LengthHistogram& histogram) {
  std::string text;
  for (int64_t length = 1; length < std::ssize(histogram.counts); ++length) {
    if (histogram.counts[length] == 0) continue;
    fmt::format_to(std::back_inserter(text), "{}\t{}\n", length, histogram.counts[length]);
  }
  return text;
}

LengthHistogram read_length_histogram(const std::filesystem::path& path) {
  const std::string bytes = platform::read_file(path);
  const std::string_view text = text::without_byte_order_mark(bytes);
  auto histogram = parse_length_histogram(text);
  if (!histogram) {
    const ParseError& error = histogram.error();
    throw_data_error("{}, line {}: {}; write \"length count\", one length a line", path.string(),
                     formats::position_at(text, error.offset).line, error.message);
  }
  return *std::move(histogram);
}

std::string length_histogram_svg(const LengthHistogram& histogram, const std::string& title) {
  const int64_t longest = histogram.longest();
  const int64_t tokens = divide_up(longest, kMostBars);
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

SpreadLengths::SpreadLengths(const LengthHistogram& histogram)
    : ends_(static_cast<size_t>(histogram.longest()) + 1) {
  if (histogram.num_sequences() == 0) throw_user_error("a histogram of lengths without sequences");
  std::partial_sum(histogram.counts.begin(), histogram.counts.begin() + std::ssize(ends_),
                   ends_.begin());
}

int64_t SpreadLengths::length(int64_t index) const {
  double whole = 0.0;
  const double share = std::modf(static_cast<double>(index + 1) * kGoldenRatio, &whole);
  const auto place = static_cast<int64_t>(share * static_cast<double>(ends_.back()));
  return std::upper_bound(ends_.begin(), ends_.end(), place) - ends_.begin();
}

}  // namespace cloze::data
