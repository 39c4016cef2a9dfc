// Element types of tensors.
#pragma once

#include <cstdint>
#include <string_view>

namespace cloze {

enum class DType : uint8_t { kF32, kBF16, kF16, kF64, kI32, kI64, kU8 };

int64_t bytes_of(DType dtype);
std::string_view name_of(DType dtype);  // "f32", "bf16", ...
// Unit round-off: half the gap between 1 and the next number. Floating types only.
double unit_roundoff(DType dtype);
bool is_floating(DType dtype);

}  // namespace cloze
