// The search for numbers that are not finite, after something went wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/dtype.h"

namespace cloze::runtime {

struct NonFiniteElement {
  int64_t index = 0;
  double value = 0.0;  // NaN or an infinity
};

// The first element that is not finite. Integers are all finite.
std::optional<NonFiniteElement> find_non_finite(std::span<const std::byte> tensor, DType dtype);

// Where a program first wrote such a number: everything that ran before wrote finite ones.
struct NonFiniteOutput {
  std::string phase;
  std::string node;    // scope and operator: "bert.encoder.layer.0.output.dense.linear"
  std::string reads;   // parameters among its inputs, by name; may be empty
  std::string tensor;  // the variable it wrote, or "its output" with dtype and shape
  NonFiniteElement element;
};

}  // namespace cloze::runtime
