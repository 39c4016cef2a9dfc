// softmax_row: what a softmax cross-entropy needs to know about one row of logits.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace cloze::backend::reference {

struct SoftmaxRow {
  double log_sum_exp = 0.0;
  int64_t first_largest = 0;
};

// logit(c) is called twice for every c in [0, classes).
template <typename Logit>
SoftmaxRow softmax_row(int64_t classes, const Logit& logit) {
  SoftmaxRow row;
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t c = 0; c < classes; ++c) {
    if (const double value = logit(c); value > largest) {
      largest = value;
      row.first_largest = c;
    }
  }
  double sum = 0.0;
  for (int64_t c = 0; c < classes; ++c) sum += std::exp(logit(c) - largest);
  row.log_sum_exp = largest + std::log(sum);
  return row;
}

}  // namespace cloze::backend::reference
