// SpreadLengths: lengths as frequent as those of a data set, for made-up samples.
//
// They are not drawn at random but spread evenly over the histogram, by the golden ratio's sequence
// of low discrepancy, so that any stretch of them has nearly the same tokens:
//   length(i) = the length at the share frac((i + 1) * 0.618...) of all sequences,
//   in ascending order
#pragma once

#include <cstdint>
#include <vector>

#include "data/offline_packing/length_histogram.h"

namespace cloze::data {

class SpreadLengths {
 public:
  explicit SpreadLengths(const LengthHistogram& histogram);  // of one sequence or more

  int64_t length(int64_t index) const;
  int64_t longest() const { return static_cast<int64_t>(ends_.size()) - 1; }

 private:
  std::vector<int64_t> ends_;  // ends_[l]: sequences of at most l tokens
};

}  // namespace cloze::data
