// The number of sequences of each length: all that packing needs to know of a data set.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cloze::data {

struct LengthHistogram {
  std::vector<int64_t> counts;  // counts[l]: sequences of l tokens; counts[0] is 0

  int64_t longest() const;  // length; 0 when there is no sequence
  int64_t num_sequences() const;
  int64_t num_tokens() const;
  void add(int64_t length, int64_t count = 1);
};

// Lines "length<white space>count"; empty lines and lines that start with # are skipped, a length
// that repeats adds up. The error's offset is the start of the bad line.
Result<LengthHistogram> parse_length_histogram(std::string_view text);

std::string length_histogram_text(const LengthHistogram& histogram);

// UserError that names the file and the line.
LengthHistogram read_length_histogram(const std::filesystem::path& path);

// A picture of it: an SVG file of bars, some tokens wide each. The histogram holds at least one
// sequence.
std::string length_histogram_svg(const LengthHistogram& histogram, const std::string& title);

// SpreadLengths: lengths as frequent as those of a data set, for made-up samples.
//
// They are not drawn at random but spread evenly over the histogram, by the golden ratio's sequence
// of low discrepancy, so that any stretch of them has nearly the same tokens:
//   length(i) = the length at the share frac((i + 1) * 0.618...) of all sequences,
//   in ascending order
class SpreadLengths {
 public:
  explicit SpreadLengths(const LengthHistogram& histogram);  // of one sequence or more

  int64_t length(int64_t index) const;
  int64_t longest() const { return static_cast<int64_t>(ends_.size()) - 1; }

 private:
  std::vector<int64_t> ends_;  // ends_[l]: sequences of at most l tokens
};

}  // namespace cloze::data
