// What the kernels of pack_weight and packed_linear (ops/packed_linear.h) agree on: how wide the
// panels of a packed weight are for the instruction set in use; and how packed_linear is cut.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/shape.h"

namespace cloze::backend::cpu {

// How packed_linear is cut into blocks.
struct PackedLinearPlan {
  // A block of x this high and deep, and the sums it is added to, mostly stay in the L2 cache. A
  // panel this deep does not stay in the L1 cache, but it is read in order, and sums are read less
  // often.
  static constexpr int64_t kMostRows = 192;
  static constexpr int64_t kMostDepth = 768;
};

int64_t weight_panel_columns();
// Why a packed weight of this shape is of no use here; empty when it is.
std::optional<std::string> refuse_other_panels(const Shape& packed);

}  // namespace cloze::backend::cpu
