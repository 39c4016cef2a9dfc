// Whole numbers that are divided and rounded up: how many pieces hold everything, and what they
// hold together. Values are not negative, and value + by fits into the type.
#pragma once

#include <concepts>

namespace cloze {

constexpr auto divide_up(std::integral auto value, std::integral auto by) {
  return (value + by - 1) / by;
}

constexpr auto round_up(std::integral auto value, std::integral auto to) {
  return divide_up(value, to) * to;
}

static_assert(divide_up(0, 8) == 0 && divide_up(1, 8) == 1 && divide_up(8, 8) == 1);
static_assert(round_up(0, 8) == 0 && round_up(9, 8) == 16 && round_up(16, 8) == 16);

}  // namespace cloze
