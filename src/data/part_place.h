// Items in consecutive parts: which part holds the i-th of all items.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace cloze::data {

struct PartPlace {
  int64_t part = 0;
  int64_t index = 0;  // in the part
};

// ends[p]: items in parts 0 to p. 0 <= item < ends.back(). Parts may be empty.
inline PartPlace part_place(std::span<const int64_t> ends, int64_t item) {
  const int64_t part = std::upper_bound(ends.begin(), ends.end(), item) - ends.begin();
  return {part, part == 0 ? item : item - ends[part - 1]};
}

}  // namespace cloze::data
