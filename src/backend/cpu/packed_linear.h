// How wide the panels of a packed weight (ops/packed_linear.h) are for the instruction set in use.
#pragma once

#include <cstdint>

namespace cloze::backend::cpu {

int64_t weight_panel_columns();

}  // namespace cloze::backend::cpu
