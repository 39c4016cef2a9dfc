// What the kernels of pack_weight and packed_linear (ops/packed_linear.h) agree on: how wide the
// panels of a packed weight are for the instruction set in use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/shape.h"

namespace cloze::backend::cpu {

int64_t weight_panel_columns();
// Why a packed weight of this shape is of no use here; empty when it is.
std::optional<std::string> refuse_other_panels(const Shape& packed);

}  // namespace cloze::backend::cpu
