// Fisher-Yates from the back, the order in which Python's random.shuffle draws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cloze::data {

// `random.below(bound)` is a number in [0, bound).
template <typename T, typename Random>
void shuffle(std::vector<T>& items, Random& random) {
  for (size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[random.below(static_cast<uint32_t>(i))]);
  }
}

}  // namespace cloze::data
