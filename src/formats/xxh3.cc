#include "formats/xxh3.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <new>

namespace cloze::formats {

uint64_t xxh3(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

Xxh3Digest::Xxh3Digest()
    : state_(XXH3_createState(), [](XXH3_state_t* state) { XXH3_freeState(state); }) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state_.get());
}

void Xxh3Digest::update(std::string_view bytes) {
  XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
}

uint64_t Xxh3Digest::low_half() const { return XXH3_128bits_digest(state_.get()).low64; }

std::string Xxh3Digest::hex() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace cloze::formats
