// The sequence that a model reads: [CLS] first [SEP], or [CLS] first [SEP] second [SEP].
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "data/sample.h"

namespace cloze::data {

inline constexpr int64_t kPairBorders = 3;                  // [CLS], and a [SEP] after each part
inline constexpr int64_t kShortestPair = kPairBorders + 2;  // a token in each part
constexpr int64_t num_borders(bool has_second) { return has_second ? kPairBorders : 2; }

struct BorderIds {
  int32_t cls = 0;
  int32_t sep = 0;
};

// Nothing is masked yet.
Sample sequence_of(std::span<const int32_t> first, std::optional<std::span<const int32_t>> second,
                   const BorderIds& borders, int32_t label = 0);

}  // namespace cloze::data
