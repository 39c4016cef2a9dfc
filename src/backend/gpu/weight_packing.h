// Weights that never change, as a program for GPUs keeps them: row by row, as the model has them.
#pragma once

#include "ops/packed_linear.h"

namespace cloze::backend::gpu {

inline constexpr ops::WeightLayout kPlainLayout{.columns = 1};

}  // namespace cloze::backend::gpu
