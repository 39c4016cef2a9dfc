// Philox 4x32-10: a counter-based random number generator. Same key and counter, same numbers:
// randomness is a function, not a state, so dropout, masking and shuffling need no stored state.
// Source: Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.
#pragma once

#include <array>
#include <cstdint>

namespace cloze {

using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

inline constexpr uint32_t kPhiloxMultiplier0 = 0xD2511F53u;
inline constexpr uint32_t kPhiloxMultiplier1 = 0xCD9E8D57u;
inline constexpr uint32_t kPhiloxWeyl0 = 0x9E3779B9u;
inline constexpr uint32_t kPhiloxWeyl1 = 0xBB67AE85u;
inline constexpr int kPhiloxRounds = 10;

// Four independent 32-bit words for one counter.
inline PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const uint64_t product0 = uint64_t{kPhiloxMultiplier0} * counter[0];
    const uint64_t product1 = uint64_t{kPhiloxMultiplier1} * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(product0)};
    key[0] += kPhiloxWeyl0;
    key[1] += kPhiloxWeyl1;
  }
  return counter;
}

// A stream of numbers for code that draws one after the other (data generation, shuffles).
// Stream identity is (seed, stream); position is implied by the number of draws.
class PhiloxStream {
 public:
  PhiloxStream(uint64_t seed, uint64_t stream)
      : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}, stream_(stream) {}

  uint32_t next() {
    if (used_ == 4) {
      words_ = philox({static_cast<uint32_t>(block_), static_cast<uint32_t>(block_ >> 32),
                       static_cast<uint32_t>(stream_), static_cast<uint32_t>(stream_ >> 32)},
                      key_);
      ++block_;
      used_ = 0;
    }
    return words_[used_++];
  }
  // Uniform in [0, bound); bound > 0. Rejection keeps it unbiased.
  uint32_t below(uint32_t bound) {
    const uint32_t threshold = -bound % bound;
    while (true) {
      const uint64_t product = uint64_t{next()} * bound;
      if (static_cast<uint32_t>(product) >= threshold) return static_cast<uint32_t>(product >> 32);
    }
  }
  // Uniform in [0, 1), 24 bits.
  float uniform() { return static_cast<float>(next() >> 8) * 0x1p-24f; }

 private:
  PhiloxKey key_;
  uint64_t stream_;
  uint64_t block_ = 0;
  PhiloxCounter words_{};
  int used_ = 4;
};

}  // namespace cloze
