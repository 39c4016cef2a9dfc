// For tests: the text of a sample as it was before words were masked.
#pragma once

#include <cstdint>
#include <vector>

#include "data/sample.h"

namespace cloze::data {

inline std::vector<int32_t> unmasked(const Sample& sample) {
  std::vector<int32_t> ids = sample.input_ids;
  for (size_t i = 0; i < sample.masked_positions.size(); ++i) {
    ids[static_cast<size_t>(sample.masked_positions[i])] = sample.masked_labels[i];
  }
  return ids;
}

}  // namespace cloze::data
