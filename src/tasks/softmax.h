// Softmax: p_i = exp(x_i - max x) / sum_j exp(x_j - max x), in f64.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace cloze::tasks {

// At least one value.
template <class T>
std::vector<double> softmax(std::span<const T> values) {
  const double largest = *std::max_element(values.begin(), values.end());
  std::vector<double> shares;
  shares.reserve(values.size());
  double sum = 0.0;
  for (const T value : values) {
    shares.push_back(std::exp(value - largest));
    sum += shares.back();
  }
  for (double& share : shares) share /= sum;
  return shares;
}

}  // namespace cloze::tasks
