// Counts of values by upper bound, as Prometheus has them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace cloze::serve {

class Histogram {
 public:
  explicit Histogram(std::initializer_list<double> bounds);  // ascending

  void add(double value);
  int64_t count() const { return count_; }
  double mean() const { return count_ == 0 ? 0.0 : sum_ / static_cast<double>(count_); }
  // The smallest bound that at least this share of the values keeps to; infinity when none does.
  double bound_of_share(double share) const;
  void clear();
  // Lines NAME_bucket{le="..."}, NAME_sum and NAME_count.
  std::string prometheus(std::string_view name) const;

 private:
  std::vector<double> bounds_;
  std::vector<int64_t> counts_;  // of each bound, and of what is above the last
  int64_t count_ = 0;
  double sum_ = 0.0;
};

}  // namespace cloze::serve
