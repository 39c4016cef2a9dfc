// The sequence that a model reads: [CLS] first [SEP], or [CLS] first [SEP] second [SEP].
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "data/sample.h"

namespace cloze::data {

struct BorderIds {
  int32_t cls = 0;
  int32_t sep = 0;
};

// Nothing is masked yet.
Sample sequence_of(std::span<const int32_t> first, std::optional<std::span<const int32_t>> second,
                   const BorderIds& borders, int32_t label = 0);

}  // namespace cloze::data
