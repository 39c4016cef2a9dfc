// Dropout in kernels: the masks of ops/dropout_mask.h, bit for bit.
//
// A row of H elements has b = ceil(H / 8) counters of Philox, and counter c decides of the elements
// c, c + b ... c + 7 b. So whoever has a counter has these eight columns, and neighbouring lanes
// have neighbouring columns.
#pragma once

#include "backend/gpu/call.h"
#include "ops/dropout_mask.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {

inline constexpr int kHalves = 8;  // 16-bit numbers of a counter

struct PhiloxWords {
  uint32_t words[4];

  CLOZE_DEVICE uint32_t number(int half) const {
    // No array that is indexed by a number lies in registers.
    const uint32_t low = half < 2 ? words[0] : words[1];
    const uint32_t high = half < 6 ? words[2] : words[3];
    return ((half < 4 ? low : high) >> (16 * (half % 2))) & 0xffffu;
  }
};

// base/philox.h.
CLOZE_DEVICE PhiloxWords philox_words(PhiloxWords counter, uint32_t key0, uint32_t key1) {
  uint32_t(&c)[4] = counter.words;
  CLOZE_UNROLL
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const uint64_t product0 = uint64_t{kPhiloxMultiplier0} * c[0];
    const uint64_t product1 = uint64_t{kPhiloxMultiplier1} * c[2];
    const uint32_t first = static_cast<uint32_t>(product1 >> 32) ^ c[1] ^ key0;
    const uint32_t third = static_cast<uint32_t>(product0 >> 32) ^ c[3] ^ key1;
    counter = {{first, static_cast<uint32_t>(product1), third, static_cast<uint32_t>(product0)}};
    key0 += kPhiloxWeyl0;
    key1 += kPhiloxWeyl1;
  }
  return counter;
}

// The dropout of activations [T, H], as an operator's inputs and attributes say it.
struct RowDropout {
  Global<const int32_t> sample_ids, position_ids;  // [T]
  Global<const int32_t> random_key;                // [2]
  uint32_t site = 0;
  uint32_t threshold = 0;  // 0: keeps everything, and reads none of these
  float scale = 1.0f;

  // The three inputs follow each other from `first` on.
  template <typename Attributes>
  static RowDropout of(const Call& call, const Attributes& attributes, size_t first) {
    if (attributes.rate == 0.0) return {};
    return {call.input<int32_t>(first),
            call.input<int32_t>(first + 1),
            call.input<int32_t>(first + 2),
            static_cast<uint32_t>(attributes.site),
            ops::dropout_threshold(attributes.rate),
            static_cast<float>(ops::dropout_scale(attributes.rate))};
  }
};

// The mask of one row.
class DropoutRow {
 public:
  // The row of slot t.
  CLOZE_DEVICE DropoutRow(const RowDropout& dropout, int64_t t)
      : DropoutRow(
            dropout, t,
            dropout.threshold == 0 ? 0 : static_cast<uint32_t>(dropout.position_ids.load(t))) {}
  // A row with another number, of the sample of slot t.
  CLOZE_DEVICE DropoutRow(const RowDropout& dropout, int64_t t, uint32_t row)
      : site_(dropout.site), threshold_(dropout.threshold), scale_(dropout.scale), row_(row) {
    if (threshold_ == 0) return;
    sample_ = static_cast<uint32_t>(dropout.sample_ids.load(t));
    seed_ = static_cast<uint32_t>(dropout.random_key.load(0));
    step_ = static_cast<uint32_t>(dropout.random_key.load(1));
  }

  // The factor of element c + h b: 0 or the scale of kept elements.
  CLOZE_DEVICE float factor(uint32_t counter, int half) const {
    return factor_of(numbers(counter), half);
  }
  // The factors of h = 0 ... 7.
  CLOZE_DEVICE void factors(uint32_t counter, float (&factors)[kHalves]) const {
    const PhiloxWords words = numbers(counter);
    CLOZE_UNROLL
    for (int h = 0; h < kHalves; ++h) factors[h] = factor_of(words, h);
  }
  // Bit h: whether element c + h b is kept. The threshold is not 0.
  CLOZE_DEVICE uint32_t kept(uint32_t counter) const {
    const PhiloxWords words = numbers(counter);
    uint32_t bits = 0;
    CLOZE_UNROLL
    for (int h = 0; h < kHalves; ++h) bits |= uint32_t{words.number(h) >= threshold_} << h;
    return bits;
  }

 private:
  CLOZE_DEVICE PhiloxWords numbers(uint32_t counter) const {
    if (threshold_ == 0) return {};
    return philox_words({{counter, row_, sample_, site_}}, seed_, step_);
  }
  CLOZE_DEVICE float factor_of(const PhiloxWords& words, int half) const {
    return words.number(half) >= threshold_ ? scale_ : 0.0f;
  }

  uint32_t site_, threshold_;
  float scale_;
  uint32_t row_, sample_ = 0, seed_ = 0, step_ = 0;
};

// Calls visit(column, factor) for the columns of counter c of a row of H.
template <typename Visit>
CLOZE_DEVICE void visit_counter(const DropoutRow& mask, int64_t H, int64_t c, const Visit& visit) {
  const int64_t counters = (H + kHalves - 1) / kHalves;
  float factors[kHalves];
  mask.factors(static_cast<uint32_t>(c), factors);
  CLOZE_UNROLL
  for (int h = 0; h < kHalves; ++h) {
    if (c + h * counters < H) visit(c + h * counters, factors[h]);
  }
}

// The columns that a lane has when a warp has a row: those of every 32nd counter. Each time the same
// ones, so that a lane may read what it has written.
template <typename Visit>
CLOZE_DEVICE void visit_columns(const DropoutRow& mask, int64_t H, const Visit& visit) {
  for (int64_t c = lane(); c < (H + kHalves - 1) / kHalves; c += kWarp) {
    visit_counter(mask, H, c, visit);
  }
}
template <typename Visit>
CLOZE_DEVICE void visit_columns(int64_t H, const Visit& visit) {
  const int64_t counters = (H + kHalves - 1) / kHalves;
  for (int64_t c = lane(); c < counters; c += kWarp) {
    CLOZE_UNROLL
    for (int h = 0; h < kHalves; ++h) {
      if (c + h * counters < H) visit(c + h * counters);
    }
  }
}

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
