// All of a text as one number.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace cloze {

// As std::from_chars reads it: no space, no plus sign. No value for text that is not exactly one
// number, or for a number that does not fit into T.
template <typename T>
std::optional<T> number_in(std::string_view text) {
  T value{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  return error == std::errc() && end == last ? std::optional(value) : std::nullopt;
}

}  // namespace cloze
