// Value: a handle to a tensor of a Graph.
#pragma once

#include <compare>
#include <cstdint>

namespace cloze::graph {

struct Value {
  int32_t index = -1;

  bool valid() const { return index >= 0; }
  auto operator<=>(const Value&) const = default;
};

}  // namespace cloze::graph
