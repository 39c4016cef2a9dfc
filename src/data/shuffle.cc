#include "data/shuffle.h"

#include <bit>

#include "base/error.h"
#include "base/philox.h"

namespace cloze::data {
namespace {

constexpr int kRounds = 8;
constexpr uint64_t kSeedDomain = 0x5EED0F5A0FF1E000u;  // keeps the streams apart from other uses

uint64_t low_mask(int bits) { return (uint64_t{1} << bits) - 1; }

uint64_t scramble(uint64_t half, int round, uint64_t seed, uint64_t epoch) {
  const uint64_t key = seed ^ kSeedDomain ^ (epoch << 32 | epoch >> 32);
  const PhiloxCounter words =
      philox({static_cast<uint32_t>(half), static_cast<uint32_t>(half >> 32),
              static_cast<uint32_t>(round), static_cast<uint32_t>(epoch)},
             {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)});
  return uint64_t{words[0]} | uint64_t{words[1]} << 32;
}

}  // namespace

Permutation::Permutation(uint64_t size, uint64_t seed, uint64_t epoch)
    : size_(size), seed_(seed), epoch_(epoch) {
  CLOZE_CHECK(size > 0 && size <= (uint64_t{1} << 62), "permutation of {}", size);
  const int bits = std::bit_width(size - 1);
  low_bits_ = bits / 2;
  high_bits_ = bits - low_bits_;
}

uint64_t Permutation::operator()(uint64_t index) const {
  CLOZE_CHECK(index < size_, "index {} of a permutation of {}", index, size_);
  uint64_t value = index;
  do {
    value = permute_bits(value);
  } while (value >= size_);
  return value;
}

// The halves may differ in width by one bit: rounds change them in turn instead of swapping them.
uint64_t Permutation::permute_bits(uint64_t value) const {
  uint64_t low = value & low_mask(low_bits_);
  uint64_t high = value >> low_bits_;
  for (int round = 0; round < kRounds; round += 2) {
    high ^= scramble(low, round, seed_, epoch_) & low_mask(high_bits_);
    low ^= scramble(high, round + 1, seed_, epoch_) & low_mask(low_bits_);
  }
  return high << low_bits_ | low;
}

ShuffledEpochs::ShuffledEpochs(int64_t size, uint64_t seed) : size_(size), seed_(seed) {}

ShuffledEpochs::Place ShuffledEpochs::at(int64_t n) {
  const int64_t epoch = n / size_;
  if (!permutation_ || epoch != epoch_) {
    permutation_.emplace(static_cast<uint64_t>(size_), seed_, static_cast<uint64_t>(epoch));
    epoch_ = epoch;
  }
  const uint64_t index = (*permutation_)(static_cast<uint64_t>(n % size_));
  return {static_cast<int64_t>(index), epoch};
}

}  // namespace cloze::data
