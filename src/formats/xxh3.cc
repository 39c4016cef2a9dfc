#include "formats/xxh3.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <new>

namespace cloze::formats {

struct Xxh3Digest::State {
  XXH3_state_t* state = XXH3_createState();
  State() {
    if (state == nullptr) throw std::bad_alloc();
    XXH3_128bits_reset(state);
  }
  ~State() { XXH3_freeState(state); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

uint64_t xxh3(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

Xxh3Digest::Xxh3Digest() : state_(std::make_unique<State>()) {}
Xxh3Digest::~Xxh3Digest() = default;

void Xxh3Digest::update(std::string_view bytes) {
  XXH3_128bits_update(state_->state, bytes.data(), bytes.size());
}

uint64_t Xxh3Digest::low_half() const { return XXH3_128bits_digest(state_->state).low64; }

std::string Xxh3Digest::hex() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->state);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace cloze::formats
