// Logits are what a model gives for each class, token or word.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace cloze::tasks {

// DataError, naming whose logits they are, when one is not finite: weights that are no longer
// finite would otherwise give answers that look like any others. The model is to blame for it, not
// the input.
inline void require_finite(std::span<const float> logits, std::string_view whose) {
  if (std::ranges::all_of(logits, [](float x) { return std::isfinite(x); })) return;
  throw_data_error("the model's logits for {} are not finite numbers; has its training diverged?",
                   whose);
}

// Softmax: p_i = exp(x_i - max x) / sum_j exp(x_j - max x), in f64. At least one value.
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

// The probability that a label holds whatever the others do.
inline double sigmoid(double logit) { return 1.0 / (1.0 + std::exp(-logit)); }

// One label of several holds where its probability is above this one (transformers' and
// scikit-learn's rule).
inline constexpr double kLabelThreshold = 0.5;

}  // namespace cloze::tasks
