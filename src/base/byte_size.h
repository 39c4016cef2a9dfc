// A number of bytes as people write and read it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cloze {

// "8GiB", "1.5 GB", "800MiB" → bytes: KB to TB are powers of 1000, KiB to TiB of 1024. Nothing for
// any other text, for less than one byte, and from 2^60 on.
std::optional<int64_t> byte_size(std::string_view text);

template <typename Bytes>
double mebibytes(Bytes bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

}  // namespace cloze
