// softmax_row: what a softmax cross-entropy needs to know about one row of logits, by one warp.
#pragma once

#include "backend/gpu/math.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {

struct SoftmaxRow {
  float largest;
  int32_t first_largest;
  float sum;     // of e^(logit - largest)
  float others;  // the same without the label's

  CLOZE_DEVICE float probability(float logit) const { return exponential(logit - largest) / sum; }
  // The gradient of the loss by a logit: the probability, less 1 at the label, where others / sum
  // does not cancel.
  CLOZE_DEVICE float gradient(float logit, bool is_label) const {
    return is_label ? -(others / sum) : probability(logit);
  }
  // log(sum) - label, which stays exact where the sum is barely above 1.
  CLOZE_DEVICE float loss(float label_logit) const {
    if (label_logit == largest) return logarithm_of_one_plus(others);
    return largest - label_logit + logarithm(sum);
  }
};

// logit(c) is called twice for every c in [0, classes), by one lane. The result is the same in all
// lanes.
template <typename Logit>
CLOZE_DEVICE SoftmaxRow softmax_row(int32_t classes, int32_t label, const Logit& logit) {
  float largest = as_float(0xff800000u);  // -infinity
  int32_t first = lane() < classes ? lane() : classes;
  for (int32_t c = lane(); c < classes; c += kWarp) {
    const float value = logit(c);
    if (value > largest) {
      largest = value;
      first = c;
    }
  }
  for (int mask = kWarp / 2; mask > 0; mask /= 2) {
    const float other = shuffle_xor(largest, mask);
    const int32_t other_first = shuffle_xor(first, mask);
    const bool takes = other > largest || (other == largest && other_first < first);
    largest = takes ? other : largest;
    first = takes ? other_first : first;
  }
  float others = 0.0f, at_label = 0.0f;
  for (int32_t c = lane(); c < classes; c += kWarp) {
    const float term = exponential(logit(c) - largest);
    (c == label ? at_label : others) += term;
  }
  others = warp_sum(others);
  return {largest, first, others + warp_sum(at_label), others};
}

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
