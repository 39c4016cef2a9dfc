// The CPU: vector kernels compiled for several instruction sets and chosen at run time, matrix
// products by oneDNN; whatever these refuse is served by the reference kernels.
#pragma once

#include "backend/device.h"

namespace cloze::backend::cpu {

const Backend& backend();
Device& device();

}  // namespace cloze::backend::cpu
