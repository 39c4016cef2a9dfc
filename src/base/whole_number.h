// All of a text as one number.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace cloze {

// As std::from_chars reads it: no space, no plus sign. Nothing for a text that is not a number, or
// not only one, and for a number that T does not hold.
template <typename T>
std::optional<T> number_in(std::string_view text) {
  T value{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  return error == std::errc() && end == last ? std::optional(value) : std::nullopt;
}

}  // namespace cloze
