// Lets the decoders of records refuse one. A record has some twenty ways to be wrong: a Refusal is
// thrown where one is seen and becomes the ParseError of the decoder that was called.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "formats/refusal.h"
#include "formats/tf_example.h"

namespace cloze::data {

using formats::refuse;

inline int32_t in_range(std::string_view name, int64_t value, int64_t end) {
  if (value < 0 || value >= end) refuse("{} holds {}; it must be in [0, {})", name, value, end);
  return static_cast<int32_t>(value);
}

inline std::span<const int64_t> integers(const formats::TfExample& example, std::string_view name) {
  const auto values = example.integers(name);
  if (!values) refuse("feature {} is missing or holds no integers", name);
  return *values;
}

// Bound of the ids of a vocabulary of this size; 0 means that it is not known.
inline int64_t id_bound(int64_t vocabulary_size) {
  return vocabulary_size > 0 ? vocabulary_size : int64_t{1} << 31;
}

// Returns what `decode` returns, or why it refused.
template <typename Decode>
auto decoded(Decode&& decode) -> Result<decltype(decode())> {
  try {
    return decode();
  } catch (const formats::Refusal& bad) {
    return ParseError{bad.message, 0};
  }
}

}  // namespace cloze::data
