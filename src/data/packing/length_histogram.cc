#include "data/packing/length_histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <numeric>

#include "base/error.h"
#include "platform/file.h"

namespace cloze::data {
namespace {

constexpr int64_t kLongestLength = 1 << 20;
constexpr int64_t kMostSequences = int64_t{1} << 40;
constexpr std::string_view kSpaces = " \t\r";

void skip_spaces(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
}

// Takes a number in [low, high] off the front, and the spaces behind it.
bool take_number(std::string_view& text, int64_t low, int64_t high, int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < low || number > high) return false;
  text.remove_prefix(end - text.data());
  skip_spaces(text);
  return true;
}

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
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    skip_spaces(line);
    if (!line.empty() && line.front() != '#') {
      int64_t length = 0;
      int64_t count = 0;
      if (!take_number(line, 1, kLongestLength, length) ||
          !take_number(line, 0, kMostSequences, count) || !line.empty()) {
        return ParseError{"is no line of a length and a count", begin};
      }
      histogram.add(length, count);
    }
    begin = end + 1;
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
  const std::string text = platform::read_file(path);
  auto histogram = parse_length_histogram(text);
  if (!histogram) {
    const ParseError& error = histogram.error();
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<int64_t>(error.offset), '\n');
    throw_data_error("{}, line {}: {}; write \"length count\", one length a line", path.string(),
                     line, error.message);
  }
  return *std::move(histogram);
}

}  // namespace cloze::data
