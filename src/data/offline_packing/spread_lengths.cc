#include "data/offline_packing/spread_lengths.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace cloze::data {
namespace {

constexpr double kGoldenRatio = 0.6180339887498949;

}  // namespace

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
