// The mask of ops/dropout_mask.h in vectors: the same bits, for every instruction set.
//
//   DropoutMultipliers(d, row, n, m)   m[i] = scale where element i is kept, else 0
//   ApplyDropout(d, row, n, x)         x[i] *= m[i], in place
//
// A vector of neighbouring counters gives eight vectors of neighbouring elements. Philox multiplies
// 32 by 32 bits to 64, which x86 does for every other lane only; so even and odd counters travel
// in two vectors of 64-bit lanes, whose upper halves may hold anything until they are merged.
#include "backend/cpu/dropout_row.h"
#include "backend/cpu/parallel.h"
#include "base/philox.h"

#if defined(CLOZE_BACKEND_CPU_DROPOUT_MASK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CLOZE_BACKEND_CPU_DROPOUT_MASK_INL_H_
#undef CLOZE_BACKEND_CPU_DROPOUT_MASK_INL_H_
#else
#define CLOZE_BACKEND_CPU_DROPOUT_MASK_INL_H_
#endif

#include <hwy/highway.h>

#include "backend/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

using WideTag = hn::ScalableTag<uint64_t>;
using WideVector = hn::Vec<WideTag>;
using WordTag = hn::ScalableTag<uint32_t>;
using WordVector = hn::Vec<WordTag>;

// Four counter words of half a vector of counters; the lower 32 bits of each lane count.
struct WideCounters {
  WideVector word0, word1, word2, word3;
};

HWY_INLINE void PhiloxRound(WideCounters& c, WideVector key0, WideVector key1) {
  const WordTag d32;
  const WideVector product0 =
      hn::MulEven(hn::Set(d32, kPhiloxMultiplier0), hn::BitCast(d32, c.word0));
  const WideVector product1 =
      hn::MulEven(hn::Set(d32, kPhiloxMultiplier1), hn::BitCast(d32, c.word2));
  c.word0 = hn::Xor3(hn::ShiftRight<32>(product1), c.word1, key0);
  c.word1 = product1;
  c.word2 = hn::Xor3(hn::ShiftRight<32>(product0), c.word3, key1);
  c.word3 = product0;
}

// Words of even counters in the even lanes, of odd counters in the odd lanes.
HWY_INLINE WordVector MergeWords(WideVector even, WideVector odd) {
  const WordTag d32;
  return hn::OddEven(hn::BitCast(d32, hn::ShiftLeft<32>(odd)), hn::BitCast(d32, even));
}

// The four words of each of the counters first, first + 1, ... of a row.
struct PhiloxWords {
  WordVector word0, word1, word2, word3;
};

HWY_INLINE PhiloxWords PhiloxOfCounters(const DropoutRow& row, uint32_t first) {
  const WideTag d64;
  const WordTag d32;
  const WideVector lane = hn::BitCast(d64, hn::Iota(hn::RebindToSigned<WideTag>(), 0));
  const WideVector even_counter = hn::Add(hn::Set(d64, first), hn::Add(lane, lane));
  const WideVector row_number = hn::Set(d64, row.row);
  const WideVector sample = hn::Set(d64, row.sample);
  const WideVector site = hn::Set(d64, row.key.site);
  WideCounters even{even_counter, row_number, sample, site};
  WideCounters odd{hn::Add(even_counter, hn::Set(d64, 1)), row_number, sample, site};
  WordVector key0 = hn::Set(d32, row.key.seed);
  WordVector key1 = hn::Set(d32, row.key.step);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    PhiloxRound(even, hn::BitCast(d64, key0), hn::BitCast(d64, key1));
    PhiloxRound(odd, hn::BitCast(d64, key0), hn::BitCast(d64, key1));
    key0 = hn::Add(key0, hn::Set(d32, kPhiloxWeyl0));
    key1 = hn::Add(key1, hn::Set(d32, kPhiloxWeyl1));
  }
  return {MergeWords(even.word0, odd.word0), MergeWords(even.word1, odd.word1),
          MergeWords(even.word2, odd.word2), MergeWords(even.word3, odd.word3)};
}

// scale where number >= threshold, else 0. Numbers have 16 bits, so signed comparison serves.
HWY_INLINE FloatVector MultiplierOfNumbers(const DropoutRow& row, WordVector numbers) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> d32;
  const auto limit = hn::Set(d32, static_cast<int32_t>(row.threshold) - 1);
  const auto is_kept = hn::Gt(hn::BitCast(d32, numbers), limit);
  return hn::IfThenElseZero(hn::RebindMask(d, is_kept), hn::Set(d, row.scale));
}

// body(i, part, numbers) for vectors that together cover, once and in an order of their own, those
// of the n elements of the row that belong to these counters.
template <class Body>
HWY_INLINE void ForEachNumber(const DropoutRow& row, int64_t n, Part counters, const Body& body) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(FloatTag()));
  const int64_t blocks = ops::dropout_blocks(n);
  const WordVector low_half = hn::Set(WordTag(), 0xffff);
  for (int64_t counter = counters.begin; counter < counters.end; counter += lanes) {
    const auto visit = [&](int64_t half, WordVector numbers) HWY_ATTR {
      const int64_t i = half * blocks + counter;
      const int64_t count = HWY_MIN(counters.end - counter, n - i);
      if (count >= lanes) {
        body(i, Whole{}, numbers);
      } else if (count > 0) {
        body(i, Tail{static_cast<size_t>(count)}, numbers);
      }
    };
    const auto visit_word = [&](int64_t word, WordVector bits) HWY_ATTR {
      visit(2 * word, hn::And(bits, low_half));
      visit(2 * word + 1, hn::ShiftRight<16>(bits));
    };
    const PhiloxWords words = PhiloxOfCounters(row, static_cast<uint32_t>(counter));
    visit_word(0, words.word0);
    visit_word(1, words.word1);
    visit_word(2, words.word2);
    visit_word(3, words.word3);
  }
}

// body(i, part, multipliers) for all n elements of the row.
template <class Body>
HWY_INLINE void ForEachMultiplier(const DropoutRow& row, int64_t n, const Body& body) {
  ForEachNumber(row, n, {0, ops::dropout_blocks(n)},
                [&](int64_t i, auto part, WordVector numbers)
                    HWY_ATTR { body(i, part, MultiplierOfNumbers(row, numbers)); });
}

// multipliers [n]: scale where the element is kept, 0 where it is dropped.
template <class D>
HWY_INLINE void DropoutMultipliers(D d, const DropoutRow& row, int64_t n,
                                   float* HWY_RESTRICT multipliers) {
  ForEachMultiplier(row, n, [&](int64_t i, auto part, FloatVector multiplier) HWY_ATTR {
    StoreFloats(d, multiplier, multipliers + i, part);
  });
}

// x [n]: elements that are not kept become 0, the others are scaled.
template <class D>
HWY_INLINE void ApplyDropout(D d, const DropoutRow& row, int64_t n, float* HWY_RESTRICT x) {
  ForEachMultiplier(row, n, [&](int64_t i, auto part, FloatVector multiplier) HWY_ATTR {
    StoreFloats(d, hn::Mul(LoadFloats(d, x + i, part), multiplier), x + i, part);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();
#endif  // CLOZE_BACKEND_CPU_DROPOUT_MASK_INL_H_
