#include "base/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace cloze {

int64_t Shape::operator[](int64_t axis) const {
  const int64_t from_start = axis < 0 ? axis + rank() : axis;
  CLOZE_CHECK(from_start >= 0 && from_start < rank(), "axis {} of shape {}", axis, to_string());
  return dims_[from_start];
}

int64_t Shape::elements() const {
  int64_t product = 1;
  for (const int64_t dim : dims_) product *= dim;
  return product;
}

std::string Shape::to_string() const { return fmt::format("[{}]", fmt::join(dims_, ", ")); }

}  // namespace cloze
