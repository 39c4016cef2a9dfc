#include "serve/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

namespace cloze::serve {

Histogram::Histogram(std::initializer_list<double> bounds)
    : bounds_(bounds), counts_(bounds.size() + 1) {}

void Histogram::add(double value) {
  ++counts_[std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin()];
  ++count_;
  sum_ += value;
}

double Histogram::bound_of_share(double share) const {
  int64_t below = 0;
  for (size_t i = 0; i < bounds_.size(); ++i) {
    below += counts_[i];
    if (static_cast<double>(below) >= share * static_cast<double>(count_)) return bounds_[i];
  }
  return std::numeric_limits<double>::infinity();
}

void Histogram::clear() {
  std::fill(counts_.begin(), counts_.end(), 0);
  count_ = 0;
  sum_ = 0.0;
}

std::string Histogram::prometheus(std::string_view name) const {
  std::string text;
  const auto out = std::back_inserter(text);
  int64_t below = 0;
  for (size_t i = 0; i < bounds_.size(); ++i) {
    below += counts_[i];
    fmt::format_to(out, "{}_bucket{{le=\"{}\"}} {}\n", name, bounds_[i], below);
  }
  fmt::format_to(out, "{}_bucket{{le=\"+Inf\"}} {}\n{}_sum {}\n{}_count {}\n", name, count_, name,
                 sum_, name, count_);
  return text;
}

}  // namespace cloze::serve
