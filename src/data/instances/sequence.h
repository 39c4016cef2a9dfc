// The sequence that a model reads: [CLS] first [SEP], or [CLS] first [SEP] second [SEP].
#pragma once

#include <cstdint>
#include <span>

#include "data/instances/masking.h"
#include "data/sample.h"

namespace cloze::data {

// One part when `second` is empty. Nothing is masked yet.
Sample sequence_of(std::span<const int32_t> first, std::span<const int32_t> second, int32_t label,
                   const VocabularyIds& vocabulary);

}  // namespace cloze::data
