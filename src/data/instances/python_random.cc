#include "data/instances/python_random.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace cloze::data {
namespace {

constexpr uint32_t kMiddleWord = 397;
constexpr uint32_t kTwistMatrix = 0x9908B0DFu;
constexpr uint32_t kHighestBit = 0x80000000u;
constexpr uint32_t kArraySeed = 19650218u;

}  // namespace

PythonRandom::PythonRandom(uint64_t seed) {
  const std::array<uint32_t, 2> words{static_cast<uint32_t>(seed),
                                      static_cast<uint32_t>(seed >> 32)};
  mix_key(std::span(words).first(words[1] == 0 ? 1 : 2));
}

void PythonRandom::fill_from(uint32_t seed) {
  state_[0] = seed;
  for (uint32_t i = 1; i < kStateWords; ++i) {
    state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  }
}

void PythonRandom::mix_key(std::span<const uint32_t> key) {
  fill_from(kArraySeed);
  uint32_t i = 1;
  uint32_t j = 0;
  const auto advance = [&] {
    if (++i < kStateWords) return;
    state_[0] = state_[kStateWords - 1];
    i = 1;
  };
  const auto previous = [&] { return state_[i - 1] ^ (state_[i - 1] >> 30); };
  const uint32_t key_words = static_cast<uint32_t>(key.size());
  for (uint32_t count = std::max(kStateWords, key_words); count > 0; --count) {
    state_[i] = (state_[i] ^ (previous() * 1664525u)) + key[j] + j;
    advance();
    j = (j + 1) % key_words;
  }
  for (uint32_t count = kStateWords - 1; count > 0; --count) {
    state_[i] = (state_[i] ^ (previous() * 1566083941u)) - i;
    advance();
  }
  state_[0] = kHighestBit;
}

void PythonRandom::twist() {
  for (uint32_t i = 0; i < kStateWords; ++i) {
    const uint32_t mixed =
        (state_[i] & kHighestBit) | (state_[(i + 1) % kStateWords] & ~kHighestBit);
    state_[i] = state_[(i + kMiddleWord) % kStateWords] ^ (mixed >> 1) ^
                ((mixed & 1) != 0 ? kTwistMatrix : 0);
  }
  used_ = 0;
}

uint32_t PythonRandom::next() {
  if (used_ == kStateWords) twist();
  uint32_t word = state_[used_++];
  word ^= word >> 11;
  word ^= (word << 7) & 0x9D2C5680u;
  word ^= (word << 15) & 0xEFC60000u;
  return word ^ (word >> 18);
}

std::vector<uint32_t> PythonRandom::state() const {
  std::vector<uint32_t> state(state_.begin(), state_.end());
  state.push_back(used_);
  return state;
}

void PythonRandom::go_on_at(std::span<const uint32_t> state) {
  CLOZE_CHECK(state.size() == kStateWords + 1 && state.back() <= kStateWords, "a state of {} words",
              state.size());
  std::ranges::copy(state.first(kStateWords), state_.begin());
  used_ = state.back();
}

double PythonRandom::uniform() {
  const uint32_t high = next() >> 5;
  const uint32_t low = next() >> 6;
  return (high * 0x1p26 + low) * 0x1p-53;
}

uint32_t PythonRandom::below(uint32_t bound) {
  const int bits = std::bit_width(bound);
  uint32_t value;
  do {
    value = next() >> (32 - bits);
  } while (value >= bound);
  return value;
}

}  // namespace cloze::data
