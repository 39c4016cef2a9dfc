// The dot product of two vectors of one size, in double:
//
//   sum_i one_i other_i        as eight sums side by side, which a processor adds at once
//
// One order of adding, whatever the vectors' places in memory.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace cloze::tasks {

template <typename T>
double dot_product(std::span<const T> one, std::span<const T> other) {
  constexpr size_t kSums = 8;
  std::array<double, kSums> sums{};
  const auto add = [&](size_t sum, size_t i) {
    sums[sum] += static_cast<double>(one[i]) * static_cast<double>(other[i]);
  };
  size_t i = 0;
  for (; i + kSums <= one.size(); i += kSums) {
    for (size_t j = 0; j < kSums; ++j) add(j, i + j);
  }
  for (size_t j = 0; i + j < one.size(); ++j) add(j, i + j);
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

}  // namespace cloze::tasks
