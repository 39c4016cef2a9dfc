// One row of dropout: what ops/dropout_mask.h needs to tell which of its elements are kept.
#pragma once

#include <cstdint>

#include "ops/dropout_mask.h"

namespace cloze::backend::cpu {

struct DropoutRow {
  ops::DropoutKey key;
  uint32_t sample = 0;
  uint32_t row = 0;
  uint32_t threshold = 0;  // ops::dropout_threshold(rate)
  float scale = 1.0f;      // ops::dropout_scale(rate)
};

// The rows of a call differ in sample and row only.
inline DropoutRow dropout_row(double rate, int32_t site, const int32_t* random_key) {
  const ops::DropoutKey key{.seed = static_cast<uint32_t>(random_key[0]),
                            .step = static_cast<uint32_t>(random_key[1]),
                            .site = static_cast<uint32_t>(site)};
  return {.key = key,
          .threshold = ops::dropout_threshold(rate),
          .scale = static_cast<float>(ops::dropout_scale(rate))};
}

}  // namespace cloze::backend::cpu
