// A name for the content of a data set: XXH3-128 of all its samples in their order, with all that
// is to be learned of them.
#pragma once

#include <string>

#include "data/dataset.h"

namespace cloze::data {

// 32 hex digits. Reads every sample once, those of epoch 0.
std::string sample_digest(const Dataset& dataset);

}  // namespace cloze::data
