// TensorType: the element type and shape of a value; all that shape rules and planning need.
#pragma once

#include <cstdint>
#include <string>

#include "base/dtype.h"
#include "base/shape.h"

namespace cloze::graph {

struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;

  int64_t bytes() const { return shape.elements() * bytes_of(dtype); }
  std::string to_string() const { return shape.to_string() + " " + std::string(name_of(dtype)); }
  bool operator==(const TensorType&) const = default;
};

// One f32 number: losses, normalisers, learning rates.
inline const TensorType kScalar{DType::kF32, {1}};

}  // namespace cloze::graph
