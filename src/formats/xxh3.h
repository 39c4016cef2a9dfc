// XXH3, a fast hash without secrets: for naming what has a given content and for finding damage,
// not against forgery. Stable since xxHash 0.8.0. Source: github.com/Cyan4973/xxHash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct XXH3_state_s;  // of xxhash.h

namespace cloze::formats {

// 64 bits of a piece of memory.
uint64_t xxh3(std::span<const std::byte> bytes);

// 128 bits of any number of pieces, as if concatenated.
class Xxh3Digest {
 public:
  Xxh3Digest();

  void update(std::string_view bytes);
  std::string hex() const;    // 32 digits, the high half first
  uint64_t low_half() const;  // 64 bits of them

 private:
  std::unique_ptr<XXH3_state_s, void (*)(XXH3_state_s*)> state_;
};

}  // namespace cloze::formats
