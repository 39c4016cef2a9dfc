// Decides which elements dropout keeps: a pure function of (seed, step, site, sample, row,
// element), so the mask is never stored and does not depend on how sequences were packed. Every
// backend uses this definition; the reference calls it, vector kernels reproduce it.
//
// A row of n elements uses blocks = ceil(n / 8) Philox counters; counter c gives eight 16-bit
// numbers, and number h belongs to element h * blocks + c. (Neighbouring elements come from
// neighbouring counters, so that vector code needs no transposition.)
//   key     = {seed, step}
//   counter = {c, row, sample, site}
// An element is kept when its number >= threshold, and then scaled by 65536 / (65536 - threshold).
#pragma once

#include <cmath>
#include <cstdint>

#include "base/philox.h"

namespace cloze::ops {

struct DropoutKey {
  uint32_t seed = 0;
  uint32_t step = 0;
  uint32_t site = 0;
};

inline uint32_t dropout_threshold(double rate) {
  return static_cast<uint32_t>(std::lround(rate * 65536.0));
}

// The factor of kept elements: the inverse of the exact share kept.
inline double dropout_scale(double rate) { return 65536.0 / (65536.0 - dropout_threshold(rate)); }

inline uint32_t dropout_blocks(int64_t row_elements) {
  return static_cast<uint32_t>((row_elements + 7) / 8);
}

inline uint32_t dropout_number(const DropoutKey& key, uint32_t sample, uint32_t row,
                               int64_t row_elements, int64_t element) {
  const int64_t blocks = dropout_blocks(row_elements);
  const auto counter = static_cast<uint32_t>(element % blocks);
  const auto half = static_cast<uint32_t>(element / blocks);
  const PhiloxCounter words = philox({counter, row, sample, key.site}, {key.seed, key.step});
  return (words[half / 2] >> (16 * (half % 2))) & 0xffffu;
}

// The row number of attention probabilities: one row per head and query.
inline constexpr int64_t kMostHeadsOrQueries = 1 << 16;  // of each; more would share rows
inline uint32_t attention_dropout_row(int64_t head, int64_t query) {
  return static_cast<uint32_t>(head * kMostHeadsOrQueries + query);
}

}  // namespace cloze::ops
